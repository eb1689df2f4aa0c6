import { DatabaseChoice, NoDatabase, useDatabases } from "../documents/database-choice"
import { Empty, LinkButton } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { IndexDetails } from "./index-details"
import { IndexesList } from "./indexes-list"
import { NewIndex } from "./new-index"
import "../documents/documents.css"
import "../query/query.css"
import "./indexes.css"

/**
 * The page of indexes: of a database (`#/indexes/DB`), of one index (`#/indexes/DB/NAME`), of a new one
 * (`#/indexes/DB?new=`).
 */
export function IndexesPage() {
  const [database = "", ...rest] = route.value.parts
  const name = rest.join("/")
  const isNew = route.value.query.has("new")
  const databases = useDatabases(database)
  const { hasNone, isMissing } = databases
  const isListed = name !== "" || isNew
  return (
    <div class="stack">
      <div class="title-row">
        <h1>
          {isListed ? <a href={hrefOf("indexes", database)}>Indexes</a> : "Indexes"}
          {isListed && <span class="quiet"> › </span>}
          {isNew ? "new" : name}
        </h1>
        {!hasNone && <DatabaseChoice page="indexes" chosen={database} databases={databases} />}
      </div>
      {hasNone && (
        <Empty title="There is no database yet.">
          <LinkButton href="#/documents">Create one</LinkButton>
        </Empty>
      )}
      {!hasNone && isMissing && <NoDatabase name={database} />}
      {!hasNone &&
        !isMissing &&
        database !== "" &&
        (isNew ? (
          <NewIndex key={database} database={database} />
        ) : name !== "" ? (
          <IndexDetails key={`${database}/${name}`} database={database} name={name} />
        ) : (
          <IndexesList key={database} database={database} />
        ))}
    </div>
  )
}
