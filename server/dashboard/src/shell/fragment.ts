/** Where the page is: `#/documents/shop/Users?filter=a` is `{ page: "documents", parts: ["shop", "Users"], query }`. Kept in the fragment, so the server needs one page only. */
export interface Route {
  page: string
  parts: string[]
  query: URLSearchParams
}

export function parse(hash: string): Route {
  // A kiosk link brings a token, which is no place in the page and must not be shown in it.
  if (hash.startsWith("#kiosk=")) return { page: "", parts: [], query: new URLSearchParams() }
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2)
  const [page = "", ...parts] = path.split("/").map(decode)
  return { page, parts, query: new URLSearchParams(query) }
}

/** The fragment of a place in the page; parts may hold any character. */
export function hrefOf(page: string, ...parts: string[]): string {
  return `#/${[page, ...parts].map(encodeURIComponent).join("/")}`
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
