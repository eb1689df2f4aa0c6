import { signal } from "@preact/signals"
import { hrefOf, parse } from "./fragment"
import { manualHref } from "./manual-href"

export { hrefOf, parse, type Route } from "./fragment"

// A browser that opens an address of the manual gets this page, which shows the manual as one of its own pages.
if (location.pathname.startsWith("/help")) history.replaceState(null, "", `/${manualHref(location.pathname + location.hash)}`)

/** The current location in the page. */
export const route = signal(parse(location.hash))

addEventListener("hashchange", () => {
  route.value = parse(location.hash)
})

/** Replaces the current entry of the history by a location in the page, without a navigation. */
export function replaceHash(hash: string): void {
  history.replaceState(null, "", hash)
  route.value = parse(hash)
}

/**
 * Returns a parameter of the address that has one effect, such as opening a panel, and removes it from the address. So
 * the same link can have the effect again.
 */
export function takeParameter(name: string): string | null {
  const { page, parts, query } = route.peek()
  const value = query.get(name)
  if (value === null) return null
  query.delete(name)
  history.replaceState(history.state, "", `${hrefOf(page, ...parts)}${query.size > 0 ? `?${query}` : ""}`)
  return value
}
