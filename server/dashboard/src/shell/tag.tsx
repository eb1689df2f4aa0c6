import type { ComponentChildren } from "preact"

export type Tone = "quiet" | "accent" | "good" | "warning" | "bad"

/** A coloured word or two. The colour carries no information that the words do not. */
export function Tag({ tone = "quiet", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`tag ${tone}`} {...(title ? { title } : {})}>
      {children}
    </span>
  )
}
