import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button, Dialog, Field, WorkDialog } from "../shell/parts"
import { useHeldPage } from "../shell/unsaved"

interface AccessFormProps<Made> {
  title: string
  /** Label of the button that creates the token or certificate. */
  verb: string
  name: Signal<string>
  label?: string
  hint?: string
  /** Text above the name. */
  intro?: ComponentChildren
  /** Further fields, below the name. */
  children?: ComponentChildren
  isReady?: boolean
  make: () => Promise<Made>
  /** Returns the dialog that shows the created secret, the only time. */
  show: (made: Made) => { title: string; done: string; content: ComponentChildren }
  onClose: () => void
}

/** A form for a token or certificate: asks for name and rights, creates the token or certificate, and shows it once. */
export function AccessForm<Made>({
  title,
  verb,
  name,
  label = "Name",
  hint,
  intro,
  children,
  isReady = true,
  make,
  show,
  onClose,
}: AccessFormProps<Made>) {
  const made = useSignal<{ it: Made } | null>(null)
  if (made.value) {
    const shown = show(made.value.it)
    return (
      <ShownOnce title={shown.title} done={shown.done} onClose={onClose}>
        {shown.content}
      </ShownOnce>
    )
  }

  return (
    <WorkDialog
      title={title}
      verb={verb}
      isReady={isReady && name.value.trim() !== ""}
      work={async () => {
        made.value = { it: await make() }
      }}
      onClose={onClose}
    >
      {intro}
      <Field label={label} {...(hint === undefined ? {} : { hint })}>
        <WordInput of={name} />
      </Field>
      {children}
    </WorkDialog>
  )
}

interface ShownOnceProps {
  title: string
  done: string
  onClose: () => void
  children: ComponentChildren
}

/** The dialog with a secret. Only its button closes it, because a press beside it or Escape would lose the secret. */
function ShownOnce({ title, done, onClose, children }: ShownOnceProps) {
  useHeldPage()
  return (
    <Dialog title={title} isHeld onClose={onClose} actions={<Button onClick={onClose}>{done}</Button>}>
      {children}
    </Dialog>
  )
}

interface WordInputProps {
  of: Signal<string>
  /** Set by the surrounding field. */
  id?: string
  "aria-describedby"?: string
  "aria-invalid"?: "true"
}

/** An input for names, without autocompletion and capitalisation. */
export function WordInput({ of, ...described }: WordInputProps) {
  return (
    <input
      {...described}
      class="input"
      autocomplete="off"
      autocapitalize="off"
      value={of.value}
      onInput={(event) => {
        of.value = event.currentTarget.value
      }}
    />
  )
}
