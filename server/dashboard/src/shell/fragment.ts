/**
 * A location in the page: `#/documents/shop/Users?filter=a` is `{ page: "documents", parts: ["shop", "Users"], query
 * }`. It is in the URL's fragment, so that the server needs one page only.
 */
export interface Route {
  page: string
  parts: string[]
  query: URLSearchParams
}

export function parse(hash: string): Route {
  // The fragment of a kiosk link is a token, not a location, and must not be shown.
  if (hash.startsWith("#kiosk=")) return { page: "", parts: [], query: new URLSearchParams() }
  const place = hash.replace(/^#\/?/, "")
  // Not split("?", 2), which drops what follows a second question mark.
  const at = place.indexOf("?")
  const path = at < 0 ? place : place.slice(0, at)
  const query = at < 0 ? "" : place.slice(at + 1)
  const [page = "", ...parts] = path.split("/").map(decode)
  return { page, parts, query: new URLSearchParams(query) }
}

/** Returns the fragment of a location in the page. Parts may contain any character. */
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
