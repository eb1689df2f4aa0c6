import { useEffect, useRef } from "preact/hooks"

/** What only this page has: texts that were not saved, and secrets that were shown once. */
const held = new Set<unknown>()

const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/** Makes the browser ask before it closes or reloads the page, until `key` is released. */
export function holdPage(key: unknown): void {
  // Not for ever, because a page with this listener is not kept for "Back".
  if (held.size === 0) addEventListener("beforeunload", warn)
  held.add(key)
}

export function releasePage(key: unknown): void {
  if (held.delete(key) && held.size === 0) removeEventListener("beforeunload", warn)
}

/** Makes the browser ask before it closes or reloads the page, while the component is shown and `isHeld`. */
export function useHeldPage(isHeld = true): void {
  const key = useRef({}).current
  useEffect(() => {
    if (!isHeld) return
    holdPage(key)
    return () => releasePage(key)
  }, [isHeld])
}
