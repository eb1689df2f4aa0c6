import type { ComponentChildren } from "preact"

export type Tone = "quiet" | "accent" | "good" | "warning" | "bad"

/** A word or two about the thing beside it. The colour never says more than the words. */
export function Tag({ tone = "quiet", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`tag ${tone}`} {...(title ? { title } : {})}>
      {children}
    </span>
  )
}
