import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button } from "./button"
import { Dialog } from "./dialog"
import { ErrorSentence } from "./error-sentence"
import { Field } from "./field"

interface ConfirmProps {
  title: string
  /** What the button that does it says: a verb. */
  verb: string
  danger?: boolean
  /** With it the owner has to type this name first: for what cannot be taken back. */
  name?: string
  /** Done while the dialog is open; what it throws is shown there, and the dialog stays. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  /** What will happen, in a sentence or two. */
  children?: ComponentChildren
}

/** Asks before something is done; by name where it cannot be taken back. */
export function Confirm({ title, verb, danger = false, name, onConfirm, onClose, children }: ConfirmProps) {
  const typed = useSignal("")
  const busy = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const isAllowed = name === undefined || typed.value.trim() === name
  const confirm = async () => {
    if (!isAllowed || busy.value) return
    busy.value = true
    trouble.value = null
    try {
      await onConfirm()
      onClose()
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
      onSubmit={confirm}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={danger || name !== undefined ? "danger primary" : "primary"} disabled={!isAllowed} busy={busy.value}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
      {name !== undefined && (
        <Field label={`To confirm, type ${name}`}>
          <input
            class="input"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      <ErrorSentence of={trouble.value} />
    </Dialog>
  )
}
