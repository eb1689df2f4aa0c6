import { DatabaseChoice, NoDatabase, useDatabases } from "../documents/database-choice"
import { Empty, Tabs } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { DeletedDocuments } from "./deleted-documents"
import { RevisionRules } from "./revision-rules"
import { Schedules } from "./schedules"
import { Subscriptions } from "./subscriptions"
import "../documents/documents.css"
import "./database.css"

const tabs = [
  { id: "settings", title: "Settings" },
  { id: "subscriptions", title: "Subscriptions" },
  { id: "deleted", title: "Deleted documents" },
] as const

type Tab = (typeof tabs)[number]["id"]

/** The page of one database (`#/database/DB[/TAB]`): its configuration, subscriptions, and deleted documents. */
export function DatabasePage() {
  const [database = "", tab] = route.value.parts
  const databases = useDatabases(database)
  const chosen = tabs.find(({ id }) => id === tab)?.id ?? "settings"
  if (databases.isMissing) return <NoDatabase name={database} />
  if (database === "") return <Empty title="Which database?">Choose it on the documents page.</Empty>
  return (
    <div class="stack">
      <div class="title-row">
        <h1>
          <a href="#/documents">Databases</a> <span class="quiet">›</span> <a href={hrefOf("documents", database)}>{database}</a>
        </h1>
        <DatabaseChoice page="database" chosen={database} databases={databases} />
      </div>
      <Tabs<Tab>
        label="Parts of the database"
        tabs={tabs}
        chosen={chosen}
        onChoose={(id) => {
          location.hash = hrefOf("database", database, id)
        }}
      >
        <div class="stack tab-content" key={database}>
          {chosen === "settings" && (
            <>
              <RevisionRules database={database} />
              <Schedules database={database} />
            </>
          )}
          {chosen === "subscriptions" && <Subscriptions database={database} />}
          {chosen === "deleted" && <DeletedDocuments database={database} />}
        </div>
      </Tabs>
    </div>
  )
}
