import type { ComponentChildren } from "preact"

/** Shown instead of an empty list, with what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  )
}
