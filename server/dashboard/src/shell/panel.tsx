import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

interface PanelProps {
  title: ComponentChildren
  /** Buttons and choices, right of the title. */
  actions?: ComponentChildren
  /** Whether the values are outdated. They are shown in grey. */
  stale?: boolean
  class?: string
  children?: ComponentChildren
}

/** A titled box of a page, a region for screen readers. */
export function Panel({ title, actions, stale = false, class: more = "", children }: PanelProps) {
  const id = useId()
  return (
    <section class={`panel ${stale ? "stale" : ""} ${more}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}
