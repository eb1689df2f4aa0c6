import { DatabaseChoice, NoDatabase, useDatabases } from "../documents/database-choice"
import { Empty, LinkButton } from "../shell/parts"
import { route } from "../shell/route"
import { QueryConsole } from "./query-console"
import "../documents/documents.css"
import "./query.css"

/** The page that runs queries: `#/query/DB[?q=TEXT]`. */
export function QueryPage() {
  const [database = ""] = route.value.parts
  const databases = useDatabases(database)
  const { hasNone, isMissing } = databases
  return (
    <div class="stack">
      <div class="title-row">
        <h1>Query</h1>
        {!hasNone && <DatabaseChoice page="query" chosen={database} databases={databases} />}
      </div>
      {hasNone ? (
        <Empty title="There is no database yet.">
          <LinkButton href="#/documents">Make one</LinkButton>
        </Empty>
      ) : isMissing ? (
        <NoDatabase name={database} />
      ) : (
        database !== "" && <QueryConsole key={database} database={database} />
      )}
    </div>
  )
}
