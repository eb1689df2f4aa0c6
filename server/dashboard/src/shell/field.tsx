import { cloneElement, type VNode } from "preact"
import { useId } from "preact/hooks"

interface FieldProps {
  label: string
  hint?: string
  /** Error of the value, and what to do. */
  wrong?: string | null
  /** The input, of class `input`. The field sets its id and descriptions. */
  children: VNode
}

/** A labelled input with a hint and an optional error. */
export function Field({ label, hint, wrong, children }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ")
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(described ? { "aria-describedby": described } : {}),
        ...(wrong ? { "aria-invalid": "true" } : {}),
      })}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span class="wrong" id={`${id}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  )
}
