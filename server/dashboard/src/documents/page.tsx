import { route } from "../shell/route"
import { BrowsePage } from "./browse-page"
import { DatabasesPanel } from "./databases-panel"
import "./documents.css"

/** The page of databases (`#/documents`), and of the documents of one (`#/documents/DB[/COLLECTION]`). */
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
