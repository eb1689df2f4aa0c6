import { hrefOf } from "./fragment"

/**
 * Returns the fragment that shows a page of the manual: `#/help/how-to/cluster/grow` for
 * `/help/how-to/cluster.md#grow`. So the browser stays on this page, and the live stream stays open.
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

/** For each page of the dashboard, the address of the page of the manual that explains it. */
export const HelpOfPages: Readonly<Record<string, string>> = {
  "": "/help/tutorial/dashboard.md#is-it-well",
  node: "/help/tutorial/dashboard.md#one-card-for-each-pi",
  io: "/help/explanation/io-timeline.md",
  documents: "/help/how-to/documents-in-the-browser.md",
  document: "/help/how-to/documents-in-the-browser.md",
  database: "/help/how-to/documents-in-the-browser.md#a-databases-settings",
  query: "/help/reference/rql.md",
  indexes: "/help/how-to/static-indexes.md",
  cluster: "/help/how-to/cluster.md",
  alerts: "/help/reference/alerts.md",
  logs: "/help/reference/log-events.md",
  settings: "/help/reference/configuration.md",
}
