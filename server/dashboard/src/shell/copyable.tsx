import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { Button } from "./button"

/** A command or token to take along. Where the browser gives no clipboard (plain HTTP), a click selects all of it. */
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
