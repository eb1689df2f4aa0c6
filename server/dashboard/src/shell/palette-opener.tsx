import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "./icons"
import { lazy } from "./lazy"

const Palette = lazy(async () => (await import("../palette/palette")).Palette)
const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/**
 * The button that opens the command palette, which Ctrl+K opens too: ⌘K on macOS, where Ctrl+K deletes to the end of the
 * line. The palette is loaded when it is first wanted.
 */
export function PaletteOpener() {
  // State of the component, which ends with the session. So the next session does not begin with an open palette.
  const isOpen = useSignal(false)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isChord = event[isApple ? "metaKey" : "ctrlKey"] && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k"
      // Not over a dialog, which the user must answer first.
      if (!isChord || (!isOpen.peek() && document.querySelector("dialog[open]"))) return
      event.preventDefault()
      isOpen.value = !isOpen.peek()
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [])
  return (
    <>
      <button
        type="button"
        class="go-to"
        aria-keyshortcuts={isApple ? "Meta+K" : "Control+K"}
        aria-haspopup="dialog"
        onPointerEnter={Palette.prefetch}
        onFocus={Palette.prefetch}
        onClick={() => {
          isOpen.value = true
        }}
      >
        <Icon name="query" />
        <span>Go to …</span>
        <kbd aria-hidden="true">{isApple ? "⌘" : "Ctrl"} K</kbd>
      </button>
      {isOpen.value && (
        <Palette
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}
