import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Field } from "./field"
import { WorkDialog } from "./work-dialog"

interface ConfirmProps {
  title: string
  /** Label of the button: a verb. */
  verb: string
  danger?: boolean
  /** If set, the user must first type this name, as for irreversible actions. */
  name?: string
  /** Called while the dialog is open. Its error is shown in the dialog, which stays open. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  /** The consequence, in a sentence or two. */
  children?: ComponentChildren
}

/** Asks for confirmation; by typing a name if the action is irreversible. */
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
