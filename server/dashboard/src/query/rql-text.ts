import type { Highlighter, Stretch } from "../documents/highlight"

/** A token of a query. White space is not a token. */
export interface Token {
  kind: "word" | "text" | "number" | "parameter" | "sign" | "comment"
  start: number
  end: number
  text: string
  /** Number of open brackets around the token. */
  depth: number
}

const Pieces =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\]|\\[\s\S]|"")*"?|'(?:[^'\\]|\\[\s\S]|'')*'?|`(?:[^`\\]|\\[\s\S])*`?|\$[\p{L}_][\p{L}\p{N}_]*|-?\d[\w.]*|@?[\p{L}_][\p{L}\p{N}_@-]*|[<>=!]=|<>|[^\s]/gu

/** Keywords of docs/reference/rql.md. */
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

/**
 * Splits a query into tokens. A string without its closing quote extends to the end. Caches the last query, because
 * each key causes many calls with the same text.
 */
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

/** Highlights RQL and the scripts in it. */
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

/** Whether a query has a clause. */
export function hasClause(text: string, ...words: string[]): boolean {
  return clauseAt(rqlTokens(text), ...words) !== undefined
}

/** Returns the collection of a query; null for all documents, for an index, or if the text has none (yet). */
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

/** Returns the index that a query names: `from index 'Users/ByName'`. */
export function indexOf(text: string): string | null {
  const tokens = rqlTokens(text).filter((token) => token.kind !== "comment")
  const at = tokens.findIndex((token) => token.depth === 0 && token.text.toLowerCase() === "from")
  const name = tokens[at + 2]
  if (at < 0 || tokens[at + 1]?.text.toLowerCase() !== "index" || name?.kind !== "text") return null
  return name.text.slice(1, -1)
}

/** Returns the parameters in a query, each once. */
export function parametersOf(text: string): string[] {
  return [...new Set(rqlTokens(text).flatMap((token) => (token.kind === "parameter" ? [token.text.slice(1)] : [])))]
}

/** Returns a query without its `update { … }`, so that it can be run to find the affected documents. */
export function withoutUpdate(text: string): string {
  const tokens = rqlTokens(text)
  const update = clauseAt(tokens, "update")
  if (!update) return text
  const open = tokens.find((token) => token.start > update.start && token.text === "{" && token.depth === 0)
  const close = open && tokens.find((token) => token.start > open.start && token.text === "}" && token.depth === 0)
  return `${text.slice(0, update.start)}${close ? text.slice(close.end) : ""}`.trim()
}

/** Formats a name for RQL: in quotes if it is not a plain word. */
export function nameInRql(name: string): string {
  return /^@?[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !KeywordSet.has(name.toLowerCase()) ? name : textInRql(name)
}

export function textInRql(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}

/** Returns the range of `limit`; null without one, or if it contains parameters. */
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
