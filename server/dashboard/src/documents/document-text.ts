import { layOut, type Member, memberOf, type Node, parseJson, stringOf, utf8Length } from "./json-text"

/** A document as a node gave it. */
export interface StoredDocument {
  id: string
  collection: string
  changeVector: string
  lastModified: string
  /** When it will be deleted by itself; null for most. */
  expires: string | null
  /** The text that one edits: laid out, with the metadata that its owner may change and without what the node adds. */
  readonly text: string
  /** Bytes with the node's metadata. */
  bytes: number
  /** Its own members on one line, for a list. */
  preview: string
}

/** What a node writes into the metadata, and takes from nobody. */
const NodesOwn = new Set(["@id", "@change-vector", "@last-modified", "@index-score", "@projection", "@etag", "@flags"])

const PreviewLength = 300

/** Cuts the answer `{"Results":[…]}` into documents without reading their numbers; null stands for one that is missing. */
export function documentsOf(answer: string): (StoredDocument | null)[] {
  const { node } = parseJson(answer)
  const results = memberOf(node ?? undefined, "Results")?.items ?? []
  return results.map((result) => (result.kind === "object" ? documentOf(answer, result) : null))
}

/** One result of an answer as a document. */
export function documentOf(answer: string, node: Node): StoredDocument {
  const metadata = memberOf(node, "@metadata")
  const textOf = (name: string) => {
    const value = memberOf(metadata, name)
    return value?.kind === "string" ? stringOf(answer, value) : ""
  }
  const own = (node.members ?? []).filter((member) => member.name !== "@metadata")
  const kept = (metadata?.members ?? []).filter((member) => !NodesOwn.has(member.name))
  let text: string | undefined
  return {
    id: textOf("@id"),
    collection: textOf("@collection") || "@empty",
    changeVector: textOf("@change-vector"),
    lastModified: textOf("@last-modified"),
    expires: textOf("@expires") || null,
    // Laid out when somebody looks at it: a list shows many that nobody opens.
    get text() {
      text ??= readable(editable(answer, own, kept))
      return text
    },
    bytes: utf8Length(answer.slice(node.start, node.end)),
    preview: readable(brief(answer, own)),
  }
}

/** Escapes of letters and signs become what they stand for: other programs write "K\\u00f6ln". What one could not see, or not tell apart, stays escaped. */
export function readable(text: string): string {
  return text.includes("\\u")
    ? text.replace(
        /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|[^u])/gi,
        (escape, high?: string, low?: string, unit?: string) => {
          if (high === undefined && unit === undefined) return escape
          const character = String.fromCharCode(
            ...[high ?? unit, low].flatMap((hex) => (hex === undefined ? [] : [Number.parseInt(hex, 16)])),
          )
          return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) && character !== '"' && character !== "\\" ? character : escape
        },
      )
    : text
}

function editable(answer: string, own: Member[], kept: Member[]): string {
  const lines = own.map((member) => `  ${answer.slice(member.nameStart, member.nameEnd)}: ${layOut(answer, member.value, "  ")}`)
  if (kept.length > 0) {
    const metadata = kept.map((member) => `    ${answer.slice(member.nameStart, member.nameEnd)}: ${layOut(answer, member.value, "    ")}`)
    lines.push(`  "@metadata": {\n${metadata.join(",\n")}\n  }`)
  }

  return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n}`
}

function brief(answer: string, own: Member[]): string {
  let text = ""
  for (const member of own) {
    if (text.length > PreviewLength) return `${text.slice(0, PreviewLength)}…`
    text += `${text === "" ? "" : ", "}${member.name}: ${answer.slice(member.value.start, Math.min(member.value.end, member.value.start + PreviewLength))}`
  }

  return text.length > PreviewLength ? `${text.slice(0, PreviewLength)}…` : text
}

/** The text to begin a new document with. */
export function newDocumentText(collection: string | null): string {
  return collection && !collection.startsWith("@")
    ? `{\n  \n  "@metadata": {\n    "@collection": ${JSON.stringify(collection)}\n  }\n}`
    : "{\n  \n}"
}
