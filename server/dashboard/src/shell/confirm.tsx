import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Field } from "./field"
import { WorkDialog } from "./work-dialog"

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
  return (
    <WorkDialog
      title={title}
      verb={verb}
      danger={danger || name !== undefined}
      isReady={name === undefined || typed.value.trim() === name}
      work={async () => {
        await onConfirm()
        onClose()
      }}
      onClose={onClose}
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
    </WorkDialog>
  )
}
