/** A range of a text with the role of its colour. Text between ranges is plain. */
export interface Stretch {
  start: number
  end: number
  role: Role
}

export type Role = "name" | "text" | "number" | "word" | "keyword" | "function" | "comment" | "parameter" | "sign"

export type Highlighter = (text: string) => Stretch[]

const Json = /"(?:[^"\\\n]|\\.)*"?|-?\d[\w.+-]*|\b(?:true|false|null)\b|[{}[\],:]/g

/** Highlights JSON, also invalid or incomplete JSON. */
export const highlightJson: Highlighter = (text) => {
  const stretches: Stretch[] = []
  for (const match of text.matchAll(Json)) {
    const start = match.index
    const end = start + match[0].length
    const first = match[0][0] ?? ""
    const role: Role =
      first === '"' ? (isName(text, end) ? "name" : "text") : /[-\d]/.test(first) ? "number" : /[a-z]/.test(first) ? "word" : "sign"
    stretches.push({ start, end, role })
  }

  return stretches
}

function isName(text: string, end: number): boolean {
  for (let i = end; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) return unit === 0x3a
  }

  return false
}

const Script = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?|\b\d[\w.]*|[A-Za-z_$][\w$]*/g

const ScriptWords = new Set(
  "const let var function return if else for of in break continue delete typeof null undefined true false this from where select new into group by into let orderby join on equals".split(
    " ",
  ),
)

/** Highlights index definitions and scripts: JavaScript, or C# with LINQ. */
export const highlightScript: Highlighter = (text) => {
  const stretches: Stretch[] = []
  for (const match of text.matchAll(Script)) {
    const start = match.index
    const end = start + match[0].length
    const first = match[0][0] ?? ""
    const role = /["'`]/.test(first)
      ? "text"
      : first === "/"
        ? "comment"
        : /\d/.test(first)
          ? "number"
          : ScriptWords.has(match[0])
            ? "keyword"
            : text[end] === "("
              ? "function"
              : null
    if (role) stretches.push({ start, end, role })
  }

  return stretches
}
