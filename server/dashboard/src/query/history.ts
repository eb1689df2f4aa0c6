/** A query that was run in this browser. */
export interface PastQuery {
  text: string
  parameters: string
  /** Milliseconds since 1970. */
  at: number
  milliseconds: number | null
  total: number | null
  index: string | null
}

const MostKept = 50

// Characters of a query with its parameters, and of all queries of a database. A browser stores some 5 million for the
// whole page: more would end the history of every database, and the memory of all choices.
const LongestKept = 20_000
const LongestHistory = 200_000

/** The part of the browser's storage that is used. */
export interface Store {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

const lengthOf = ({ text, parameters }: PastQuery) => text.length + (parameters?.length ?? 0)

const keyOf = (database: string) => `rookery.queries.${database.toLowerCase()}`

export function readHistory(store: Store, database: string): PastQuery[] {
  try {
    const read = JSON.parse(store.getItem(keyOf(database)) ?? "[]") as unknown
    return Array.isArray(read) ? read.filter((past): past is PastQuery => typeof (past as PastQuery | null)?.text === "string") : []
  } catch {
    return []
  }
}

/** Adds a query to the history as the newest. An equal earlier one is removed. */
export function remember(store: Store, database: string, query: PastQuery): PastQuery[] {
  const others = readHistory(store, database).filter((past) => past.text !== query.text || past.parameters !== query.parameters)
  let left = LongestHistory
  const kept = [query, ...others]
    .filter((past) => lengthOf(past) <= LongestKept)
    .slice(0, MostKept)
    .filter((past) => (left -= lengthOf(past)) >= 0)
  write(store, database, kept)
  return kept
}

export function forgetHistory(store: Store, database: string): void {
  write(store, database, [])
}

function write(store: Store, database: string, queries: PastQuery[]): void {
  store.setItem(keyOf(database), JSON.stringify(queries))
}
