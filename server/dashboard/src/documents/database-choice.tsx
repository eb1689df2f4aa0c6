import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { type Asked, Empty, ErrorSentence, LinkButton, useAsked } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { LastDatabaseKey, storage } from "../shell/storage"
import { type DatabaseList, databasesPath } from "./store"

/** Reads the list of databases, and whether the page's database is missing in it. */
export function useDatabases(chosen: string): Asked<DatabaseList> & { hasNone: boolean; isMissing: boolean } {
  const databases = useAsked<DatabaseList>(databasesPath())
  const first = useSignal<{ lacking: string; list: unknown } | null>(null)
  const list = databases.data.value
  const lacks =
    chosen !== "" && list !== undefined && !list.Databases.some((database) => database.Name.toLowerCase() === chosen.toLowerCase())
  // The database may have been created after the list was read. Read the list again before reporting that it does not
  // exist. Report nothing without an answer.
  useEffect(() => {
    if (!lacks) return
    first.value = { lacking: chosen, list }
    void databases.refresh()
  }, [lacks, chosen])
  const isAskedAgain = first.value?.lacking === chosen && first.value.list !== list
  return { ...databases, hasNone: list?.Databases.length === 0, isMissing: lacks && isAskedAgain }
}

/** Shown instead of a page if its database does not exist. */
export function NoDatabase({ name }: { name: string }) {
  return (
    <Empty title={`There is no database ${name}.`}>
      <span>It was deleted, or has another name, or your token does not give access to it.</span>
      <LinkButton href="#/documents">All databases</LinkButton>
    </Empty>
  )
}

interface DatabaseChoiceProps {
  page: "documents" | "query" | "indexes" | "database"
  chosen: string
  databases: Asked<DatabaseList>
}

/** Selects the database of the page. */
export function DatabaseChoice({ page, chosen, databases }: DatabaseChoiceProps) {
  const names = databases.data.value?.Databases.map((database) => database.Name) ?? []
  const isThere = names.includes(chosen)
  useEffect(() => {
    if (isThere) storage.setItem(LastDatabaseKey, chosen)
  }, [chosen, isThere])
  // A page without a database in its address shows the last used one, or the first.
  useEffect(() => {
    if (chosen !== "" || names.length === 0 || page === "documents") return
    const last = storage.getItem(LastDatabaseKey)
    const name = last !== null && names.includes(last) ? last : names[0]
    if (name) location.replace(hrefOf(page, name))
  }, [chosen, names.join()])
  return (
    <>
      <label class="database-choice">
        <span>Database</span>
        <select
          class="input"
          aria-label="Database"
          value={chosen}
          onChange={(event) => {
            location.hash = hrefOf(route.peek().page === "document" ? "documents" : page, event.currentTarget.value)
          }}
        >
          {!isThere && <option value={chosen}>{chosen === "" ? "…" : chosen}</option>}
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <ErrorSentence of={databases.trouble.value} retry={databases.refresh} />
    </>
  )
}
