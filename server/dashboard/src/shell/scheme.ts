import { computed, effect, signal } from "@preact/signals"
import { storage } from "./storage"

export type Theme = "system" | "light" | "dark"

const Stored = "rookery-theme"
const Dark = "(prefers-color-scheme: dark)"
const dark = matchMedia(Dark)
const systemIsDark = signal(dark.matches)

dark.addEventListener("change", () => {
  systemIsDark.value = dark.matches
})

/** The chosen theme. It is stored in this browser. */
export const theme = signal<Theme>(stored())

/** Whether the colour scheme is dark. Canvas drawings read it, so that they are drawn again at a change. */
export const isDark = computed(() => (theme.value === "system" ? systemIsDark.value : theme.value === "dark"))

/** Returns a colour by its role in theme.css, for canvases: `colour("--good")`. */
export function colour(role: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(role).trim()
}

/** Shows the page in the chosen theme from now on, and stores each choice. */
export function followTheme(): void {
  effect(() => {
    const chosen = theme.value
    const query = chosen === "system" ? Dark : chosen === "dark" ? "all" : "not all"
    for (const rule of darkRules()) rule.media.mediaText = query
    // After the colours, because canvases are drawn again at a change of the attribute.
    document.documentElement.dataset.theme = chosen
    store(chosen)
  })
}

let found: CSSMediaRule[] | undefined

// theme.css has the dark colours once, in a rule for the system's scheme. A choice changes when that rule holds.
function darkRules(): CSSMediaRule[] {
  found ??= [...document.styleSheets]
    .flatMap(rulesOf)
    .filter((rule) => rule instanceof CSSMediaRule && /prefers-color-scheme:\s*dark/.test(rule.media.mediaText)) as CSSMediaRule[]
  return found
}

// A browser's extension may add style sheets whose rules no page may read.
function rulesOf(sheet: CSSStyleSheet): CSSRule[] {
  try {
    return [...sheet.cssRules]
  } catch {
    return []
  }
}

function stored(): Theme {
  const value = storage.getItem(Stored)
  return value === "light" || value === "dark" ? value : "system"
}

function store(chosen: Theme): void {
  if (chosen === "system") storage.removeItem(Stored)
  else storage.setItem(Stored, chosen)
}
