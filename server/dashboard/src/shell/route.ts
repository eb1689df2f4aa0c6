import { signal } from "@preact/signals"
import { parse } from "./fragment"

export { hrefOf, parse, type Route } from "./fragment"

/** The current location in the page. */
export const route = signal(parse(location.hash))

addEventListener("hashchange", () => {
  route.value = parse(location.hash)
})
