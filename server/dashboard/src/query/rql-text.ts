import type { Highlighter, Stretch } from "../documents/highlight"

/** A piece of a query. Spaces are none. */
export interface Token {
  kind: "word" | "text" | "number" | "parameter" | "sign" | "comment"
  start: number
  end: number
  text: string
  /** How many brackets are open around it. */
  depth: number
}

const Pieces =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\]|\\[\s\S]|"")*"?|'(?:[^'\\]|\\[\s\S]|'')*'?|`(?:[^`\\]|\\[\s\S])*`?|\$[\p{L}_][\p{L}\p{N}_]*|-?\d[\w.]*|@?[\p{L}_][\p{L}\p{N}_@-]*|[<>=!]=|<>|[^\s]/gu

/** Words that begin or join clauses, as docs/reference/rql.md has them. */
export const Keywords = [
  "declare",
  "function",
  "from",
  "index",
  "as",
  "where",
  "and",
  "or",
  "not",
  "between",
  "in",
  "all",
  "group",
  "by",
  "array",
  "order",
  "asc",
  "desc",
  "long",
  "double",
  "string",
  "alphaNumeric",
  "load",
  "filter",
  "filter_limit",
  "select",
  "distinct",
  "update",
  "include",
  "limit",
  "offset",
  "true",
  "false",
  "null",
] as const

const KeywordSet = new Set<string>(Keywords.map((word) => word.toLowerCase()))

let newest: { text: string; tokens: readonly Token[] } = { text: "", tokens: [] }

/** Cuts a query into pieces; a text without its closing quote goes to the end. Each key is followed by many questions about the same text, of which only the first cuts it. */
export function rqlTokens(text: string): readonly Token[] {
  if (newest.text !== text) newest = { text, tokens: cut(text) }
  return newest.tokens
}

function cut(text: string): Token[] {
  const tokens: Token[] = []
  let depth = 0
  for (const match of text.matchAll(Pieces)) {
    const piece = match[0]
    const first = piece[0] ?? ""
    if (/[)}\]]/.test(first)) depth = Math.max(0, depth - 1)
    tokens.push({ kind: kindOf(piece, first), start: match.index, end: match.index + piece.length, text: piece, depth })
    if (/[({[]/.test(first)) depth++
  }

  return tokens
}

function kindOf(piece: string, first: string): Token["kind"] {
  if (piece.startsWith("//") || piece.startsWith("/*")) return "comment"
  if (/["'`]/.test(first)) return "text"
  if (first === "$" && piece.length > 1) return "parameter"
  if (/^-?\d/.test(piece)) return "number"
  return /^@?[\p{L}_]/u.test(piece) ? "word" : "sign"
}

/** Colours of RQL, scripts inside of it included. */
export const highlightRql: Highlighter = (text) => {
  const stretches: Stretch[] = []
  for (const token of rqlTokens(text)) {
    const { start, end } = token
    if (token.kind === "word") {
      if (KeywordSet.has(token.text.toLowerCase())) stretches.push({ start, end, role: "keyword" })
      else if (text[end] === "(") stretches.push({ start, end, role: "function" })
    } else if (token.kind !== "sign") stretches.push({ start, end, role: token.kind })
  }

  return stretches
}

function clauseAt(tokens: readonly Token[], ...words: string[]): Token | undefined {
  return tokens.find((token) => token.depth === 0 && token.kind === "word" && words.includes(token.text.toLowerCase()))
}

/** Whether a clause stands in a query. */
export function hasClause(text: string, ...words: string[]): boolean {
  return clauseAt(rqlTokens(text), ...words) !== undefined
}

/** The collection that a query is of: null for all documents, an index, or a text that does not say it (yet). */
export function collectionOf(text: string): string | null {
  const tokens = rqlTokens(text).filter((token) => token.kind !== "comment")
  const at = tokens.findIndex((token) => token.depth === 0 && token.text.toLowerCase() === "from")
  const next = tokens[at + 1]
  if (at < 0 || !next || next.text.toLowerCase() === "index" || next.text.startsWith("@")) return null
  return next.kind === "word"
    ? next.text
    : next.kind === "text"
      ? next.text.slice(1, next.text.length > 1 && next.text.at(-1) === next.text[0] ? -1 : undefined)
      : null
}

/** The index that a query names: `from index 'Users/ByName'`. */
export function indexOf(text: string): string | null {
  const tokens = rqlTokens(text).filter((token) => token.kind !== "comment")
  const at = tokens.findIndex((token) => token.depth === 0 && token.text.toLowerCase() === "from")
  const name = tokens[at + 2]
  if (at < 0 || tokens[at + 1]?.text.toLowerCase() !== "index" || name?.kind !== "text") return null
  return name.text.slice(1, -1)
}

/** The parameters that a query names, each once. */
export function parametersOf(text: string): string[] {
  return [...new Set(rqlTokens(text).flatMap((token) => (token.kind === "parameter" ? [token.text.slice(1)] : [])))]
}

/** Which documents a change by query is of: the query without its `update { … }`, as a query that can be asked. */
export function withoutUpdate(text: string): string {
  const tokens = rqlTokens(text)
  const update = clauseAt(tokens, "update")
  if (!update) return text
  const open = tokens.find((token) => token.start > update.start && token.text === "{" && token.depth === 0)
  const close = open && tokens.find((token) => token.start > open.start && token.text === "}" && token.depth === 0)
  return `${text.slice(0, update.start)}${close ? text.slice(close.end) : ""}`.trim()
}

/** A name as RQL takes it: in quotes where it is no plain word. */
export function nameInRql(name: string): string {
  return /^@?[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !KeywordSet.has(name.toLowerCase()) ? name : textInRql(name)
}

export function textInRql(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}

/** What `limit` cuts out; null without one, or when parameters say it. */
export function limitOf(text: string): { skip: number; take: number } | null {
  const tokens = rqlTokens(text).filter((token) => token.depth === 0 && token.kind !== "comment")
  const at = tokens.findIndex((token) => token.text.toLowerCase() === "limit")
  const number = (token: Token | undefined) => (token?.kind === "number" ? Number(token.text) : null)
  const first = at < 0 ? null : number(tokens[at + 1])
  if (first === null) return null
  const mark = tokens[at + 2]?.text.toLowerCase()
  const second = number(tokens[at + 3])
  if (mark === ",") return second === null ? null : { skip: first, take: second }
  if (mark === "offset") return second === null ? null : { skip: second, take: first }
  return { skip: 0, take: first }
}
