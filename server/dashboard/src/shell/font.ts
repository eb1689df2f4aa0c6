import { signal } from "@preact/signals"
import file from "./inter.woff2"

/** Whether the page's font is loaded. Canvas drawings read this signal, so that they are drawn again. */
export const hasFont = signal(false)

// A browser without requestIdleCallback waits for this time instead.
const LaterMilliseconds = 500
const MostMilliseconds = 3000

/**
 * Loads the font when the browser is idle. The first values are shown in the system's font, so that the first screen
 * needs only 60 KiB. If the font cannot be loaded, the page keeps the system's font.
 */
export function loadFontLater(): void {
  const load = async () => {
    try {
      document.fonts.add(await new FontFace("Inter", `url(${file})`, { weight: "400 600" }).load())
      hasFont.value = true
    } catch {
      // The node does not answer, or the browser forbids fonts.
    }
  }
  addEventListener("load", () => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => void load(), { timeout: MostMilliseconds })
    else setTimeout(load, LaterMilliseconds)
  })
}
