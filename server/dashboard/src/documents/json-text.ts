/**
 * Parses JSON to nodes with positions in the text. The editor shows where a text is wrong, and a document must keep its
 * numbers as written: `JSON.parse` would round 12345678901234567890 and drop the fraction of 1.0.
 */

export interface Member {
  /** The name, unescaped. */
  name: string
  nameStart: number
  nameEnd: number
  value: Node
}

export interface Node {
  kind: "object" | "array" | "string" | "number" | "boolean" | "null"
  start: number
  /** Position after the last character. */
  end: number
  members?: Member[]
  items?: Node[]
}

/** An error and its position. */
export interface Fault {
  message: string
  at: number
}

export type Parsed = { node: Node; fault: null } | { node: null; fault: Fault }

/** Maximum depth of a stored document. */
const DeepestLevel = 128

const NumberText = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const Word = /[A-Za-z_$][\w$]*/y

class Failed extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message)
  }
}

/** Parses one JSON value. Text after it is an error. */
export function parseJson(text: string): Parsed {
  const reader = new Reader(text)
  try {
    const node = reader.value(1)
    reader.space()
    if (reader.at < text.length) reader.fail(`${reader.found()} follows the end of the value.`)
    return { node, fault: null }
  } catch (failure) {
    if (failure instanceof Failed) return { node: null, fault: failure.fault }
    throw failure
  }
}

/** Returns why a text cannot be stored as a document; null if it can. */
export function documentFault(text: string): Fault | null {
  const { node, fault } = parseJson(text)
  if (fault) return fault
  return node.kind === "object" ? null : { message: "A document is an object: { … }.", at: node.start }
}

/** Returns the text of a string node, unescaped. */
export function stringOf(text: string, node: { start: number; end: number }): string {
  const raw = text.slice(node.start + 1, node.end - 1)
  return raw.includes("\\") ? (JSON.parse(text.slice(node.start, node.end)) as string) : raw
}

/** Returns line and column of a position, both from 1. */
export function placeOf(text: string, at: number): { line: number; column: number } {
  let line = 1
  let begin = 0
  for (let next = text.indexOf("\n"); next >= 0 && next < at; next = text.indexOf("\n", next + 1)) {
    line++
    begin = next + 1
  }

  return { line, column: at - begin + 1 }
}

/** Returns the position of a line and column, or the nearest that exists. */
export function offsetOf(text: string, line: number, column: number): number {
  let begin = 0
  for (let left = line - 1; left > 0; left--) {
    const end = text.indexOf("\n", begin)
    if (end < 0) return text.length
    begin = end + 1
  }

  const end = text.indexOf("\n", begin)
  return Math.min(begin + Math.max(column - 1, 0), end < 0 ? text.length : end)
}

/** Indents JSON. Strings and numbers stay as written. Returns invalid JSON unchanged. */
export function formatJson(text: string): string {
  const { node } = parseJson(text)
  return node ? layOut(text, node) : text
}

/** Does the same as {@link formatJson}, for a parsed node. */
export function layOut(text: string, node: Node, indent = ""): string {
  const deeper = `${indent}  `
  if (node.members && node.members.length > 0) {
    const lines = node.members.map(
      (member) => `${deeper}${text.slice(member.nameStart, member.nameEnd)}: ${layOut(text, member.value, deeper)}`,
    )
    return `{\n${lines.join(",\n")}\n${indent}}`
  }

  if (node.items && node.items.length > 0) {
    return `[\n${node.items.map((item) => deeper + layOut(text, item, deeper)).join(",\n")}\n${indent}]`
  }

  return node.members ? "{}" : node.items ? "[]" : text.slice(node.start, node.end)
}

/** Formats a value on one line without white space. */
export function compact(text: string, node: Node): string {
  if (node.members) {
    return `{${node.members.map((member) => `${text.slice(member.nameStart, member.nameEnd)}:${compact(text, member.value)}`).join(",")}}`
  }

  return node.items ? `[${node.items.map((item) => compact(text, item)).join(",")}]` : text.slice(node.start, node.end)
}

/** Returns the value of a member; undefined if it is missing, or if the node is not an object. */
export function memberOf(node: Node | undefined, name: string): Node | undefined {
  return node?.members?.find((member) => member.name === name)?.value
}

/** Returns the length of a text in UTF-8 bytes, as a node stores it. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) bytes++
    else if (unit < 0x800) bytes += 2
    else if (unit >= 0xd800 && unit < 0xdc00 && text.charCodeAt(i + 1) >= 0xdc00 && text.charCodeAt(i + 1) < 0xe000) {
      bytes += 4
      i++
    } else bytes += 3
  }

  return bytes
}

class Reader {
  at = 0

  constructor(private readonly text: string) {}

  fail(message: string, at = this.at): never {
    throw new Failed({ message, at })
  }

  space(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at)
      if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) return
      this.at++
    }
  }

  /** Describes the text at the current position, as the beginning of an error message. */
  found(): string {
    const character = this.text[this.at]
    if (character === undefined) return "The end"
    Word.lastIndex = this.at
    const word = Word.exec(this.text)?.[0]
    return `'${word ?? String.fromCodePoint(this.text.codePointAt(this.at) ?? 0)}'`
  }

  value(level: number): Node {
    this.space()
    if (level > DeepestLevel) this.fail(`A document nests at most ${DeepestLevel} levels deep.`)
    switch (this.text[this.at]) {
      case "{":
        return this.object(level)
      case "[":
        return this.array(level)
      case '"':
        return this.string()
      case undefined:
        return this.fail("The text ends where a value must stand.")
      default:
        return this.scalar()
    }
  }

  private object(level: number): Node {
    const start = this.at++
    const members: Member[] = []
    const names = new Set<string>()
    this.space()
    if (this.text[this.at] === "}") return { kind: "object", start, end: ++this.at, members }
    for (;;) {
      this.space()
      const nameStart = this.at
      if (this.text[this.at] !== '"') this.fail(this.nameFault(members.length > 0))
      const { end: nameEnd } = this.string()
      const name = stringOf(this.text, { start: nameStart, end: nameEnd })
      if (names.has(name)) this.fail(`The object has "${name}" twice; each name may stand once.`, nameStart)
      names.add(name)
      this.space()
      if (this.text[this.at] !== ":") this.fail(`A ':' must follow the name "${name}"; ${this.found()} stands here.`)
      this.at++
      members.push({ name, nameStart, nameEnd, value: this.value(level + 1) })
      if (this.ends("}", "member")) return { kind: "object", start, end: this.at, members }
    }
  }

  private nameFault(isAfterComma: boolean): string {
    const character = this.text[this.at]
    if (character === "}" && isAfterComma) return "A comma stands before '}'; JSON has none there."
    if (character === "'") return "Names stand in double quotes, not in single ones."
    return character === undefined ? "The text ends inside of an object." : `A name in double quotes must stand here, not ${this.found()}.`
  }

  private array(level: number): Node {
    const start = this.at++
    const items: Node[] = []
    this.space()
    if (this.text[this.at] === "]") return { kind: "array", start, end: ++this.at, items }
    for (;;) {
      this.space()
      if (this.text[this.at] === "]") this.fail("A comma stands before ']'; JSON has none there.")
      items.push(this.value(level + 1))
      if (this.ends("]", "item")) return { kind: "array", start, end: this.at, items }
    }
  }

  private ends(bracket: string, what: string): boolean {
    this.space()
    const character = this.text[this.at]
    if (character === bracket || character === ",") {
      this.at++
      return character === bracket
    }

    return character === undefined
      ? this.fail(`The text ends where ',' or '${bracket}' must stand.`)
      : this.fail(`',' or '${bracket}' must follow the ${what}; ${this.found()} stands here.`)
  }

  private string(): Node {
    const start = this.at++
    for (;;) {
      const unit = this.text.charCodeAt(this.at)
      if (Number.isNaN(unit) || unit === 10) this.fail("The closing quote is missing.", start)
      if (unit < 32) this.fail("A control character stands in a string; write it with a backslash, as \\t.")
      if (unit === 0x22) return { kind: "string", start, end: ++this.at }
      if (unit === 0x5c) this.escape()
      else this.at++
    }
  }

  private escape(): void {
    const next = this.text[this.at + 1] ?? ""
    if (next === "u") {
      if (!/^[0-9a-fA-F]{4}$/.test(this.text.slice(this.at + 2, this.at + 6))) this.fail("Four hexadecimal digits must follow \\u.")
      this.at += 6
    } else if ('"\\/bfnrt'.includes(next) && next !== "") this.at += 2
    else this.fail(`\\${next} means nothing in JSON; a backslash itself is \\\\.`)
  }

  private scalar(): Node {
    const start = this.at
    Word.lastIndex = start
    const word = Word.exec(this.text)?.[0]
    if (word === "true" || word === "false") return { kind: "boolean", start, end: (this.at += word.length) }
    if (word === "null") return { kind: "null", start, end: (this.at += 4) }
    NumberText.lastIndex = start
    const number = NumberText.exec(this.text)?.[0]
    if (number) {
      this.at += number.length
      if (/[\w.]/.test(this.text[this.at] ?? "")) this.fail(`This is not a number of JSON: ${this.text.slice(start, this.at + 1)}`, start)
      return { kind: "number", start, end: this.at }
    }

    if (word) return this.fail(`${this.found()} is not a value; texts stand in double quotes.`)
    return this.fail(
      this.text[start] === "'" ? "Texts stand in double quotes, not in single ones." : `${this.found()} stands where a value must stand.`,
    )
  }
}
