import { useLayoutEffect, useRef } from "preact/hooks"

/**
 * Sheets, dialogs and menus that lie over the page, each with an entry of its own in the browser's history: "Back"
 * closes the sheet, and not the page below.
 */
interface Sheet {
  number: number
  close: () => void
}

const open: Sheet[] = []

const numberIn = (state: unknown): number => (state as { sheet?: number } | null)?.sheet ?? 0

// The entries of sheets that were open before the page was loaded again.
let last = numberIn(history.state)

/** The number of a sheet that was closed otherwise, whose entry is not yet taken away. */
let surplus = 0

addEventListener("popstate", (event) => {
  const number = numberIn(event.state)
  while ((open.at(-1)?.number ?? 0) > number) open.pop()?.close()
})

function begin(close: () => void): Sheet {
  const sheet = { number: ++last, close }
  open.push(sheet)
  // A sheet that follows another one takes its entry. Going back is asynchronous, and would take away the new one.
  if (surplus !== 0 && numberIn(history.state) === surplus) history.replaceState({ sheet: sheet.number }, "")
  else history.pushState({ sheet: sheet.number }, "")
  surplus = 0
  return sheet
}

function end(sheet: Sheet): void {
  const at = open.indexOf(sheet)
  // It was closed by "Back", and its entry is left.
  if (at < 0) return
  open.splice(at, 1)
  if (numberIn(history.state) !== sheet.number) return
  surplus = sheet.number
  setTimeout(() => {
    if (surplus !== sheet.number) return
    surplus = 0
    // After a navigation the entry is below the new page, and stays.
    if (numberIn(history.state) === sheet.number) history.back()
  })
}

/**
 * Gives a sheet its entry while `isOpen`. `close` is called at "Back". Returns a function that goes to a place of the
 * page in the sheet's stead, so that "Back" leads to what was below it.
 */
export function useSheet(close: () => void, isOpen = true): (href: string) => void {
  const latest = useRef(close)
  latest.current = close
  // Not useEffect, which runs after the sheet is visible: "Back" in between would leave the page below.
  useLayoutEffect(() => {
    if (!isOpen) return
    const sheet = begin(() => latest.current())
    return () => end(sheet)
  }, [isOpen])
  return goInstead
}

/** Goes to a place of the page, in the stead of the sheet whose entry is the newest. */
function goInstead(href: string): void {
  if (numberIn(history.state) === 0) location.hash = href
  else location.replace(href)
}
