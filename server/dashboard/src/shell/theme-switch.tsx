import { Icon } from "./icons"
import { type Theme, theme } from "./scheme"

const Next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" }
const Words: Readonly<Record<Theme, string>> = { system: "as the system has it", light: "light", dark: "dark" }

/** A button that changes the theme: the system's, light, dark, and again the system's. */
export function ThemeSwitch() {
  const next = Next[theme.value]
  return (
    <button
      type="button"
      class="round"
      title={`Colours: ${Words[theme.value]}. Press for: ${Words[next]}`}
      aria-label={`Colours: ${Words[theme.value]}`}
      onClick={() => {
        theme.value = next
      }}
    >
      <Icon name={theme.value} />
    </button>
  )
}
