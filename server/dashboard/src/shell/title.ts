import { signal } from "@preact/signals"
import type { Route } from "./fragment"

/** The part of a page that is shown, such as a page of the manual; empty if the page has none. */
export const part = signal("")

const Names: Readonly<Record<string, string>> = {
  "": "Overview",
  io: "IO timeline",
  documents: "Documents",
  query: "Query",
  indexes: "Indexes",
  cluster: "Cluster",
  alerts: "Alerts",
  logs: "Logs",
  settings: "Settings",
  help: "Help",
}

const DatabaseParts: Readonly<Record<string, string>> = { subscriptions: "Subscriptions", deleted: "Deleted documents" }

/**
 * Returns the title of the browser's tab, the narrowest name first, because tabs cut its end: `Indexes · shop · home`.
 * `nodeName` gives the name of a node by its tag.
 */
export function titleOf({ page, parts }: Route, place: string, shown: string, nodeName: (tag: string) => string): string {
  const [first = "", second = ""] = parts
  const names: Record<string, string[]> = {
    node: [nodeName(first)],
    document: [second, first],
    database: [DatabaseParts[second] ?? "Settings", first],
    documents: [second, "Documents", first],
    query: ["Query", first],
    indexes: [second, "Indexes", first],
    help: [shown, "Help"],
  }
  const title = [...(names[page] ?? [Names[page] ?? ""]), place || "Rookery"]
  return title.filter((name) => name !== "").join(" · ")
}
