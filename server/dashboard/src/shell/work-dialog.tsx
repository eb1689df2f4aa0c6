import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button } from "./button"
import { Dialog } from "./dialog"
import { ErrorSentence } from "./error-sentence"

interface WorkDialogProps {
  title: string
  /** What the button that does it says: a verb. */
  verb: string
  danger?: boolean
  /** Whether all is there that it needs. */
  isReady?: boolean
  /** Done while the dialog is open; what it throws is shown there, and the dialog stays. It closes, or shows something else, by itself. */
  work: () => Promise<unknown>
  onClose: () => void
  children?: ComponentChildren
}

/** A dialog that does something: once at a time, with a way out, and with what went wrong. */
export function WorkDialog({ title, verb, danger = false, isReady = true, work, onClose, children }: WorkDialogProps) {
  const busy = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const submit = async () => {
    if (!isReady || busy.value) return
    busy.value = true
    trouble.value = null
    try {
      await work()
    } catch (failure) {
      trouble.value = failure
    } finally {
      busy.value = false
    }
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={danger ? "danger primary" : "primary"} disabled={!isReady} busy={busy.value}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
      <ErrorSentence of={trouble.value} />
    </Dialog>
  )
}
