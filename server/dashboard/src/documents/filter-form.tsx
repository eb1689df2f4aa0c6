import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Button, LinkButton } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { type Filter, queryOf } from "./listing"

/**
 * The filter of documents: an id prefix, conditions in RQL, or both. It is part of the address, so that a link shows
 * the same documents.
 */
export function FilterForm({ filter, collection, database }: { filter: Filter; collection: string | null; database: string }) {
  const prefix = useSignal(filter.prefix)
  const where = useSignal(filter.where)
  useEffect(() => {
    prefix.value = filter.prefix
    where.value = filter.where
  }, [filter.prefix, filter.where])
  const place = (wanted: Pick<Filter, "prefix" | "where">) => {
    const query = new URLSearchParams()
    if (wanted.prefix !== "") query.set("prefix", wanted.prefix)
    if (wanted.where.trim() !== "") query.set("where", wanted.where.trim())
    const here = collection === null ? hrefOf("documents", database) : hrefOf("documents", database, collection)
    return query.size > 0 ? `${here}?${query}` : here
  }
  const isFiltered = filter.prefix !== "" || filter.where !== ""
  const query =
    queryOf(collection, filter) ?? (filter.prefix === "" ? null : queryOf(null, { prefix: filter.prefix, where: "true", order: "plain" }))
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault()
        location.hash = place({ prefix: prefix.value.trim(), where: where.value })
      }}
    >
      <input
        class="input"
        aria-label="Id begins with"
        placeholder="id begins with …"
        autocapitalize="off"
        spellcheck={false}
        value={prefix.value}
        onInput={(event) => {
          prefix.value = event.currentTarget.value
        }}
      />
      <input
        class="input"
        aria-label="Where, in RQL"
        placeholder="where age > 18 …"
        autocapitalize="off"
        spellcheck={false}
        value={where.value}
        onInput={(event) => {
          where.value = event.currentTarget.value
        }}
      />
      <Button type="submit">Filter</Button>
      {isFiltered && (
        <LinkButton kind="plain" href={place({ prefix: "", where: "" })}>
          Clear
        </LinkButton>
      )}
      {query !== null && (
        <LinkButton kind="plain" href={`${hrefOf("query", database)}?q=${encodeURIComponent(query)}`}>
          As a query
        </LinkButton>
      )}
    </form>
  )
}
