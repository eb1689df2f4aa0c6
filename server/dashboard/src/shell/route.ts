import { signal } from "@preact/signals"
import { parse } from "./fragment"
import { manualHref } from "./manual-href"

export { hrefOf, parse, type Route } from "./fragment"

// A browser that opens an address of the manual gets this page, which shows the manual as one of its own pages.
if (location.pathname.startsWith("/help")) history.replaceState(null, "", `/${manualHref(location.pathname + location.hash)}`)

/** The current location in the page. */
export const route = signal(parse(location.hash))

addEventListener("hashchange", () => {
  route.value = parse(location.hash)
})
