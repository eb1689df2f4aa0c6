import { signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { Button } from "./button"
import { sentenceOf } from "./error-sentence"

interface Shown {
  id: number
  text: string
  tone: "normal" | "good" | "bad"
  seconds: number
  undo: (() => Promise<unknown>) | undefined
}

const shown = signal<Shown[]>([])
let last = 0

/** Shows a message for some seconds. With `undo` it has a button that reverts the action and reports the result. */
export function toast(text: string, options: { tone?: Shown["tone"]; undo?: () => Promise<unknown>; seconds?: number } = {}): void {
  const { tone = "normal", undo, seconds = undo ? 15 : 6 } = options
  const older = [...shown.value]
  const first = older.findIndex((item) => !item.undo)
  if (older.length > 2) older.splice(Math.max(0, first), 1)
  shown.value = [...older, { id: ++last, text, tone, seconds, undo }]
}

function drop(id: number): void {
  shown.value = shown.value.filter((item) => item.id !== id)
}

/** The container of toasts; the frame has one. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((item) => (
        <Toast key={item.id} {...item} />
      ))}
    </div>
  )
}

function Toast({ id, text, tone, seconds, undo }: Shown) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const hold = () => clearTimeout(timer.current)
  const start = () => {
    hold()
    timer.current = setTimeout(() => drop(id), seconds * 1000)
  }
  useEffect(() => {
    start()
    return hold
  }, [])
  // The toast stays while a mouse moves over it or the focus is in it. A mouse that rests where it appears, or a finger
  // that touches it, does not hold it, because it may never leave.
  return (
    <div
      class={`toast ${tone}`}
      onPointerMove={(event) => {
        if (event.pointerType === "mouse") hold()
      }}
      onPointerLeave={start}
      onFocusCapture={hold}
      onBlurCapture={start}
    >
      <span>{text}</span>
      {undo && (
        <Button
          kind="plain"
          onClick={async () => {
            hold()
            try {
              await undo()
              drop(id)
            } catch (failure) {
              drop(id)
              toast(`Not undone: ${sentenceOf(failure)}`, { tone: "bad", seconds: 15 })
            }
          }}
        >
          Undo
        </Button>
      )}
      <Button kind="plain" label="Close" onClick={() => drop(id)}>
        ✕
      </Button>
    </div>
  )
}
