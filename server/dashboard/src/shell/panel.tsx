import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

interface PanelProps {
  title: ComponentChildren
  /** Buttons and choices at the right of the title. */
  actions?: ComponentChildren
  /** The figures are old: they are greyed, not emptied. */
  stale?: boolean
  class?: string
  children?: ComponentChildren
}

/** A titled box of a page: a region that screen readers name by its title. */
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
