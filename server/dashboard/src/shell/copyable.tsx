import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { Button } from "./button"

/**
 * A command or token with a button that copies it. Without access to the clipboard (plain HTTP), a click selects the
 * text.
 */
export function Copyable({ text, label = "Copy" }: { text: string; label?: string }) {
  const copied = useSignal(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const clipboard = navigator.clipboard as Clipboard | undefined
  return (
    <div class="copyable">
      <code>{text}</code>
      {clipboard && (
        <Button
          onClick={async () => {
            await clipboard.writeText(text)
            copied.value = true
            clearTimeout(timer.current)
            timer.current = setTimeout(() => {
              copied.value = false
            }, 2000)
          }}
        >
          {copied.value ? "Copied" : label}
        </Button>
      )}
    </div>
  )
}
