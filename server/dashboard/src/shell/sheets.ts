import { useLayoutEffect, useRef } from "preact/hooks"

/**
 * A sheet, dialog or menu over the page. Each has its own entry in the browser's history, so that "Back" closes the
 * sheet and does not leave the page below.
 */
interface Sheet {
  number: number
  /** Returns whether it closes; false if only its own buttons may close it now. */
  close: () => boolean
}

const open: Sheet[] = []

const numberIn = (state: unknown): number => (state as { sheet?: number } | null)?.sheet ?? 0

// The newest sheet's number. It continues after the number of a sheet that was open before the page was loaded again.
let last = numberIn(history.state)

/** The number of a sheet that was closed, but not by "Back", and whose entry is not removed yet; 0 if there is none. */
let surplus = 0

addEventListener("popstate", (event) => {
  const number = numberIn(event.state)
  for (let top = open.at(-1); top && top.number > number; top = open.at(-1)) {
    if (!top.close()) {
      // "Back" has left its entry.
      history.pushState({ sheet: top.number }, "")
      return
    }

    open.pop()
  }
})

function begin(close: () => boolean): Sheet {
  const sheet = { number: ++last, close }
  open.push(sheet)
  // A sheet that opens at once after another sheet reuses the entry of that sheet. Going back is asynchronous, and would
  // remove the new sheet's entry.
  if (surplus !== 0 && numberIn(history.state) === surplus) history.replaceState({ sheet: sheet.number }, "")
  else history.pushState({ sheet: sheet.number }, "")
  surplus = 0
  return sheet
}

function end(sheet: Sheet): void {
  const at = open.indexOf(sheet)
  // It was closed by "Back", which has left its entry.
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
 * Gives a sheet its entry while `isOpen`, and calls `close` at "Back" if it `mayClose`. Returns a function that goes to an address of
 * the page and replaces the sheet's entry, so that "Back" leads to the page that was below the sheet.
 */
export function useSheet(close: () => void, isOpen = true, mayClose = true): (href: string) => void {
  const latest = useRef({ close, mayClose })
  latest.current = { close, mayClose }
  // Not useEffect, which runs after the sheet is visible: "Back" in between would leave the page below.
  useLayoutEffect(() => {
    if (!isOpen) return
    const sheet = begin(() => {
      if (latest.current.mayClose) latest.current.close()
      return latest.current.mayClose
    })
    return () => end(sheet)
  }, [isOpen])
  return goInstead
}

/** Goes to an address of the page. If the current entry is that of a sheet, replaces it. */
function goInstead(href: string): void {
  if (numberIn(history.state) === 0) location.hash = href
  else location.replace(href)
}
