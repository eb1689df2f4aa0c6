import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button, Dialog, Field, WorkDialog } from "../shell/parts"

interface AccessFormProps<Made> {
  title: string
  /** What the button that makes it says. */
  verb: string
  name: Signal<string>
  label?: string
  hint?: string
  /** Above the name. */
  intro?: ComponentChildren
  /** Below the name: what else is asked. */
  children?: ComponentChildren
  isReady?: boolean
  make: () => Promise<Made>
  /** What was made, which is shown this once. */
  show: (made: Made) => { title: string; done: string; content: ComponentChildren }
  onClose: () => void
}

/** Gives somebody access: asks for a name and what it may, makes it, and shows it. */
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
  /** These come from the field around it. */
  id?: string
  "aria-describedby"?: string
  "aria-invalid"?: "true"
}

/** An input for names, which nobody completes or begins with a capital. */
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
