import { route } from "../shell/route"
import { BrowsePage } from "./browse-page"
import { DatabasesPanel } from "./databases-panel"
import "./documents.css"

/** `#/documents`: the databases. `#/documents/DB[/COLLECTION]`: the documents of one. */
export function DocumentsPage() {
  const [database = "", collection = null] = route.value.parts
  if (database !== "") return <BrowsePage key={`${database}/${collection ?? ""}`} database={database} collection={collection || null} />
  return (
    <div class="stack">
      <h1>Documents</h1>
      <DatabasesPanel />
    </div>
  )
}
