import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button } from "./button"
import { Dialog } from "./dialog"
import { ErrorSentence } from "./error-sentence"

interface WorkDialogProps {
  title: string
  /** Label of the button: a verb. */
  verb: string
  danger?: boolean
  /** Whether the input is complete. */
  isReady?: boolean
  /**
   * Called while the dialog is open. Its error is shown in the dialog, which stays open. On success the caller closes
   * the dialog or changes it.
   */
  work: () => Promise<unknown>
  onClose: () => void
  children?: ComponentChildren
}

/** A dialog that runs an action, once at a time, with a cancel button and an error message. */
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
      // A dialog that was closed during the work would not show its result, such as a token that was created.
      isHeld={busy.value}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose} disabled={busy.value}>
            Cancel
          </Button>
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
