import { signal } from "@preact/signals"

const dark = matchMedia("(prefers-color-scheme: dark)")

/** Whether the colour scheme is dark. Canvas drawings read it, so that they are drawn again at a change. */
export const isDark = signal(dark.matches)

dark.addEventListener("change", () => {
  isDark.value = dark.matches
})

/** Returns a colour by its role in theme.css, for canvases: `colour("--good")`. */
export function colour(role: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(role).trim()
}
