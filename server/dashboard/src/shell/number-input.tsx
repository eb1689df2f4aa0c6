import type { Signal } from "@preact/signals"

interface NumberInputProps {
  /** The text as the user writes it. It may be no number. */
  text: Signal<string>
  /** Set by the `Field` around the input, as the next two. */
  id?: string
  "aria-describedby"?: string
  "aria-invalid"?: "true"
}

/** The input of a number in a `Field`. */
export function NumberInput({ text, ...described }: NumberInputProps) {
  return (
    <input
      {...described}
      class="input number"
      inputMode="numeric"
      autocomplete="off"
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value
      }}
    />
  )
}
