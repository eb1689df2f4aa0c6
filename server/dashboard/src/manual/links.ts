import { hrefOf } from "../shell/fragment"
import { manualHref } from "../shell/manual-href"
import { FirstPage } from "./contents"

/** Where a link of a page leads. */
export type Target =
  | { kind: "page"; path: string; anchor: string }
  /** A text or picture that the node serves as it is. */
  | { kind: "file"; path: string }
  /** A file of the repository that no node has. */
  | { kind: "source"; path: string }
  | { kind: "web"; href: string }

const Root = "http://repository/"

/** Returns where a link leads, as GitHub understands it: relative to the page's file. */
export function targetOf(page: string, href: string): Target {
  if (/^[a-z][a-z+.-]*:/i.test(href)) return { kind: "web", href }
  const url = new URL(href, `${Root}docs/${page}`)
  const path = decodeURIComponent(url.pathname.slice(1))
  if (!path.startsWith("docs/")) return { kind: "source", path }
  const inManual = path.slice("docs/".length)
  return inManual.endsWith(".md")
    ? { kind: "page", path: inManual, anchor: decodeURIComponent(url.hash.slice(1)) }
    : { kind: "file", path: inManual }
}

/** Returns the place of a page, or of a heading of it, in the dashboard. */
export function hrefOfPage(path: string, anchor = ""): string {
  if (path === FirstPage && anchor === "") return hrefOf("help")
  return manualHref(`/help/${path}${anchor === "" ? "" : `#${anchor}`}`)
}

/** Returns the page and heading that the parts of a place in the dashboard name. */
export function placeOf(parts: readonly string[]): { path: string; anchor: string } {
  const [first = "", second = "", third = ""] = parts
  if (first === "" || first === "README") return { path: FirstPage, anchor: second }
  return { path: `${first}/${second}.md`, anchor: third }
}
