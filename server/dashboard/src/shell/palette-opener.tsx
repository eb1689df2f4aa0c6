import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "./icons"
import { lazy } from "./lazy"

const Palette = lazy(async () => (await import("../palette/palette")).Palette)
const isOpen = signal(false)
const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** The button that opens the command palette, which Ctrl+K opens too. The palette is loaded when it is first wanted. */
export function PaletteOpener() {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isChord = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k"
      // Not over a dialog, which wants an answer first.
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
        aria-keyshortcuts="Control+K"
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
