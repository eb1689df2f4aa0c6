import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button, Dialog, Field, WorkDialog } from "../shell/parts"

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
      <Dialog title={shown.title} onClose={onClose} actions={<Button onClick={onClose}>{shown.done}</Button>}>
        {shown.content}
      </Dialog>
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
