import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"

interface ButtonProps {
  /**
   * Called at a click. If it returns a promise, the button is disabled until that ends. The caller handles its errors.
   */
  onClick?: (event: MouseEvent) => unknown
  kind?: "normal" | "primary" | "danger" | "danger primary" | "plain" | "plain danger"
  type?: "button" | "submit"
  disabled?: boolean
  busy?: boolean
  /** Label for screen readers, if the children are only an icon. */
  label?: string
  title?: string
  expanded?: boolean
  children?: ComponentChildren
}

/** A button: `primary` for the main action of a panel, `danger` for an irreversible one. */
export function Button({
  onClick,
  kind = "normal",
  type = "button",
  disabled = false,
  busy = false,
  label,
  title,
  expanded,
  children,
}: ButtonProps) {
  const running = useSignal(false)
  const isBusy = busy || running.value
  const press = async (event: MouseEvent) => {
    const done = onClick?.(event)
    if (!(done instanceof Promise)) return
    running.value = true
    try {
      await done
    } finally {
      running.value = false
    }
  }
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
      onClick={(event) => void press(event)}
      {...(label ? { "aria-label": label } : {})}
      {...(title ? { title } : {})}
      {...(expanded === undefined ? {} : { "aria-expanded": expanded })}
    >
      {isBusy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

/** A link that looks like a button, for navigation and downloads. */
export function LinkButton({
  href,
  download,
  kind = "normal",
  label,
  children,
}: {
  href: string
  download?: boolean
  kind?: ButtonProps["kind"]
  label?: string
  children?: ComponentChildren
}) {
  return (
    <a class={`button ${kind}`} href={href} {...(download ? { download: "" } : {})} {...(label ? { "aria-label": label } : {})}>
      {children}
    </a>
  )
}
