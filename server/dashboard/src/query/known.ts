import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { CollectionStatistics } from "../documents/store"
import { readOf } from "../documents/store"
import type { IndexDefinition } from "../indexes/definition"
import { useAsked } from "../shell/parts"
import { askQuery } from "./ask-query"
import { fieldsOf } from "./results"
import type { Known } from "./rql-completion"
import { collectionOf, indexOf, nameInRql, parametersOf } from "./rql-text"

const SampleSize = 20

/** Fields by database and collection, as found in samples of documents. Kept while the page is open. */
const seen = signal<ReadonlyMap<string, readonly string[]>>(new Map())

/**
 * Returns the names that completion offers for a query: collections, indexes, and fields of the query's collection or
 * index.
 */
export function useKnown(database: string, text: string): Known {
  const statistics = useAsked<CollectionStatistics>(readOf(database, "collections/stats/detailed"))
  const indexes = useAsked<{ Results: IndexDefinition[] }>(readOf(database, "indexes"))
  const collections = Object.keys(statistics.data.value?.Collections ?? {})
  const wanted = collectionOf(text)
  const collection = collections.find((name) => name.toLowerCase() === wanted?.toLowerCase())
  useEffect(() => {
    const from = collection ?? (wanted === null && /@all_docs/.test(text) ? "@all_docs" : undefined)
    const key = `${database}/${from}`
    if (from === undefined || seen.peek().has(key)) return
    const leaving = new AbortController()
    seen.value = new Map(seen.peek()).set(key, [])
    askQuery(database, { text: `from ${nameInRql(from)}`, parameters: "", start: 0, pageSize: SampleSize }, leaving.signal).then(
      (answer) => {
        seen.value = new Map(seen.peek()).set(key, fieldsOf(answer.results))
      },
      () => {
        // Errors are ignored: the query itself reports them. A request that was aborted is sent again later.
        if (leaving.signal.aborted) seen.value = new Map([...seen.peek()].filter(([other]) => other !== key))
      },
    )
    return () => leaving.abort()
  }, [database, collection, wanted])

  const definitions = indexes.data.value?.Results ?? []
  const ofQuery = indexOf(text)
  const fields = new Set(seen.value.get(`${database}/${collection ?? "@all_docs"}`) ?? [])
  for (const definition of definitions) {
    const isMeant =
      ofQuery !== null
        ? definition.Name.toLowerCase() === ofQuery.toLowerCase()
        : collection !== undefined && definition.Maps.some((map) => map.startsWith(`${collection}:`))
    if (isMeant) for (const field of Object.keys(definition.Fields)) fields.add(field.replace(/^\w+\((.*)\)$/, "$1"))
  }

  fields.add("@metadata.@last-modified")
  return { collections, indexes: definitions.map((definition) => definition.Name), fields: [...fields], parameters: parametersOf(text) }
}
