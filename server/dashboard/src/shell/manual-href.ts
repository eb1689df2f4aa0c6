import { hrefOf } from "./fragment"

/**
 * Returns the place in this page of a page of the manual: `/help/how-to/cluster.md#grow` is
 * `#/help/how-to/cluster/grow`. So the link stays in the page, and keeps its live stream.
 */
export function manualHref(address: string): string {
  const [file = "", anchor] = address.split("#", 2)
  const parts = file
    .replace(/^\/help\/?/, "")
    .replace(/\.md$/, "")
    .split("/")
    .filter((part) => part !== "")
  return hrefOf("help", ...parts, ...(anchor ? [anchor] : []))
}

/** The addresses on the node of the manual's pages that explain the pages of the dashboard. */
export const HelpOfPages: Readonly<Record<string, string>> = {
  "": "/help/tutorial/dashboard.md#is-it-well",
  node: "/help/tutorial/dashboard.md#one-card-for-each-pi",
  io: "/help/explanation/io-timeline.md",
  documents: "/help/how-to/documents-in-the-browser.md",
  document: "/help/how-to/documents-in-the-browser.md",
  query: "/help/reference/rql.md",
  indexes: "/help/how-to/static-indexes.md",
  cluster: "/help/how-to/cluster.md",
  alerts: "/help/reference/alerts.md",
  logs: "/help/reference/log-events.md",
  settings: "/help/reference/configuration.md",
}
