import { signal } from "@preact/signals"

const dark = matchMedia("(prefers-color-scheme: dark)")

/** Changes with dark and light: what draws on a canvas reads it, to draw again. */
export const isDark = signal(dark.matches)

dark.addEventListener("change", () => {
  isDark.value = dark.matches
})

/** A colour by its role in theme.css, for canvases: `colour("--good")`. */
export function colour(role: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(role).trim()
}
