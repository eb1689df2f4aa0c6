import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

interface ChoiceProps<Value extends string | number> {
  /** Label for screen readers. */
  label: string
  options: readonly { value: Value; title: ComponentChildren }[]
  chosen: Value
  onChoose: (value: Value) => void
}

/** A choice between a few visible options, such as a time range or a node. */
export function Choice<Value extends string | number>({ label, options, chosen, onChoose }: ChoiceProps<Value>) {
  const name = useId()
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input type="radio" name={name} checked={option.value === chosen} onChange={() => onChoose(option.value)} />
          {option.title}
        </label>
      ))}
    </fieldset>
  )
}
