import { useEffect } from "preact/hooks"
import { type Asked, ErrorSentence, useAsked } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { type DatabaseList, databasesPath } from "./store"

const LastKey = "rookery.database"

/** The databases that there are. */
export function useDatabases(): Asked<DatabaseList> & { hasNone: boolean } {
  const databases = useAsked<DatabaseList>(databasesPath())
  return { ...databases, hasNone: databases.data.value?.Databases.length === 0 }
}

interface DatabaseChoiceProps {
  page: "documents" | "query" | "indexes"
  chosen: string
  databases: Asked<DatabaseList>
}

/** The database of the page, of those that there are. */
export function DatabaseChoice({ page, chosen, databases }: DatabaseChoiceProps) {
  const names = databases.data.value?.Databases.map((database) => database.Name) ?? []
  useEffect(() => {
    if (chosen !== "") localStorage.setItem(LastKey, chosen)
  }, [chosen])
  // A page without a database shows the last one, or the first.
  useEffect(() => {
    if (chosen !== "" || names.length === 0 || page === "documents") return
    const last = localStorage.getItem(LastKey)
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
          {!names.includes(chosen) && <option value={chosen}>{chosen === "" ? "…" : chosen}</option>}
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
