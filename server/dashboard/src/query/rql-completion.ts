import { nameInRql, rqlTokens, type Token, textInRql } from "./rql-text"

export interface Completion {
  /** The text to show and to match. */
  label: string
  /** The text to insert. */
  insert: string
  kind: "keyword" | "collection" | "index" | "field" | "function" | "parameter"
  /** A short description. */
  detail?: string
}

/** Known names of the database. */
export interface Known {
  collections: readonly string[]
  indexes: readonly string[]
  fields: readonly string[]
  parameters: readonly string[]
}

const functions = (list: Record<string, string>): Completion[] =>
  Object.entries(list).map(([label, detail]) => ({ label, insert: label === "true" ? label : `${label}(`, kind: "function", detail }))

const Conditions = functions({
  id: "the document's id",
  startsWith: "texts with this beginning",
  endsWith: "texts with this end",
  search: "full text: words",
  exists: "the field has a value",
  exact: "with the case of letters",
  regex: "a pattern within a text",
  lucene: "terms with * and ?",
  boost: "counts more in the score",
  fuzzy: "texts that are similar",
  proximity: "words near each other",
  intersect: "all of these conditions",
  moreLikeThis: "documents like this one",
})
const Selections = functions({
  id: "the document's id",
  key: "the key of a group",
  count: "how many of a group",
  sum: "sum of a group",
  min: "least of a group",
  max: "greatest of a group",
  avg: "average of a group",
  score: "relevance",
  facet: "counts by value or range",
  suggest: "similar words",
})
const Orders = functions({ id: "the document's id", score: "relevance", random: "shuffled", count: "of groups", sum: "of groups" })
const Includes = functions({ timings: "how long the parts took" })

const words = (...list: string[]): Completion[] => list.map((label) => ({ label, insert: label, kind: "keyword" }))

const Clauses = words("where", "order by", "group by", "select", "include", "limit", "load", "filter", "update", "as")
const Joins = words(
  "and",
  "or",
  "not",
  "in",
  "between",
  "all in",
  "true",
  "null",
  "order by",
  "group by",
  "select",
  "include",
  "limit",
  "update",
)

export interface Offered {
  /** Range of the text to replace. */
  from: number
  to: number
  options: Completion[]
}

const MostOffered = 40

/** Maximum length of a query for completion. In a longer query, completion would slow down each key. */
export const LongestHelped = 20_000

/** Maximum length before the caret to search for a path, because the search takes quadratic time. */
const LongestPath = 500

/**
 * Returns the completions at the caret, best first. Returns null inside strings, numbers and comments, in a long query,
 * and if nothing matches the typed text.
 */
export function complete(text: string, caret: number, known: Known): Offered | null {
  if (text.length > LongestHelped) return null
  const tokens = rqlTokens(text).filter((token) => token.kind !== "comment" || token.end >= caret)
  const at = tokens.findIndex((token) => token.start < caret && token.end >= caret)
  const current = tokens[at]
  if (current && (current.kind === "comment" || current.kind === "number")) return null
  const isQuoted = current?.kind === "text"
  if (isQuoted && isClosed(current) && current.end === caret) return null
  const path =
    isQuoted || current?.kind === "parameter" ? "" : pathBefore(text.slice(Math.max(0, caret - LongestPath), caret), known.fields)
  const from = isQuoted || current?.kind === "parameter" ? current.start : caret - path.length
  const typed = isQuoted || current?.kind === "parameter" ? text.slice(from, caret).replace(/^["']/, "") : path
  const before = tokens.filter((token) => token.end <= from && token.kind !== "comment")
  const options = optionsAfter(before, text, known, isQuoted, typed)
  const found = matching(options, typed)
  return found.length === 0 ? null : { from, to: isQuoted ? (isClosed(current) ? current.end : caret) : caret, options: found }
}

const Path = /(?:[\p{L}_@][\p{L}\p{N}_@-]*(?:\[\])?\.)*(?:[\p{L}_@][\p{L}\p{N}_@-]*)?$/u

/** Returns the path that ends at the caret, such as `address.ci`, without its alias. */
function pathBefore(text: string, fields: readonly string[]): string {
  const path = Path.exec(text)?.[0] ?? ""
  const dot = path.indexOf(".")
  const first = path.slice(0, dot + 1).toLowerCase()
  return dot > 0 && !fields.some((field) => field.toLowerCase().startsWith(first)) ? path.slice(dot + 1) : path
}

function isClosed(token: Token): boolean {
  return token.text.length > 1 && token.text.at(-1) === token.text[0]
}

function optionsAfter(before: Token[], text: string, known: Known, isQuoted: boolean, typed: string): Completion[] {
  const last = before.at(-1)
  const lastWord = last?.text.toLowerCase() ?? ""
  const collections = known.collections.map((name): Completion => ({ label: name, insert: nameInRql(name), kind: "collection" }))
  if (lastWord === "index" && before.at(-2)?.text.toLowerCase() === "from") {
    return known.indexes.map((name) => ({ label: name, insert: textInRql(name), kind: "index" }))
  }

  if (lastWord === "from") {
    return isQuoted
      ? collections.map((candidate) => ({ ...candidate, insert: textInRql(candidate.label) }))
      : [...collections, { label: "@all_docs", insert: "@all_docs", kind: "collection", detail: "all documents" }, ...words("index")]
  }

  if (isQuoted) return []
  if (typed.startsWith("$")) {
    return [...new Set([...known.parameters, "p0"])].map((name) => ({ label: `$${name}`, insert: `$${name}`, kind: "parameter" }))
  }

  if (!before.some((token) => token.text.toLowerCase() === "from")) return words("from", "declare function")
  const fields = known.fields.map((name): Completion => ({ label: name, insert: fieldInRql(name), kind: "field" }))
  const clause = clauseOf(before)
  if (clause === "update" || clause === "limit") return []
  if (clause === "from") return Clauses
  // After an operand, offer keywords. After an operator, a comma or a bracket, offer fields and values.
  const isAfterOperand =
    last !== undefined &&
    (last.text === ")" ||
      last.text === "}" ||
      last.kind === "text" ||
      last.kind === "number" ||
      last.kind === "parameter" ||
      (last.kind === "word" && !Begins.has(lastWord)))
  if (isAfterOperand && !text.slice(last.end, last.end + 1).startsWith(".")) {
    return clause === "order"
      ? [...words("desc", "asc", "as long", "as double", "as alphaNumeric", "as string"), ...Clauses]
      : clause === "where" || clause === "filter"
        ? Joins
        : [...words("as"), ...Clauses]
  }

  const ofClause =
    clause === "select"
      ? Selections
      : clause === "order"
        ? Orders
        : clause === "include"
          ? Includes
          : clause === "group"
            ? functions({ array: "the whole array is one key" })
            : Conditions
  const extra = clause === "select" ? words("distinct") : clause === "where" ? words("not", "true", "false", "null") : []
  return [...fields, ...ofClause, ...extra]
}

const Begins = new Set(["where", "and", "or", "not", "by", "select", "distinct", "include", "between", "in", "filter", "load"])
const ClauseWords = new Set(["from", "where", "group", "order", "select", "include", "limit", "offset", "filter", "update", "load"])

function clauseOf(before: Token[]): string {
  const word = before.findLast((token) => token.kind === "word" && token.depth === 0 && ClauseWords.has(token.text.toLowerCase()))
  return word?.text.toLowerCase() === "offset" ? "limit" : (word?.text.toLowerCase() ?? "")
}

/** Formats a path for RQL. Steps that are not plain words get quotes: `address.'street name'`. */
function fieldInRql(path: string): string {
  return path
    .split(".")
    .map((step) => (/^@?[\p{L}_][\p{L}\p{N}_@-]*(\[\])?$/u.test(step) ? step : textInRql(step)))
    .join(".")
}

function matching(options: Completion[], typed: string): Completion[] {
  const wanted = typed.toLowerCase()
  const rank = (option: Completion) => {
    const label = option.label.toLowerCase()
    return wanted === "" || label.startsWith(wanted) ? 0 : label.includes(wanted) && wanted.length > 1 ? 1 : 2
  }
  const ranked = options.map((option, order) => ({ option, order, rank: rank(option) })).filter((candidate) => candidate.rank < 2)
  ranked.sort((left, right) => left.rank - right.rank || left.order - right.order)
  const found = ranked.map((candidate) => candidate.option).slice(0, MostOffered)
  // Do not offer the only match if it is already typed completely.
  return found.length === 1 && found[0]?.insert.toLowerCase() === wanted ? [] : found
}
