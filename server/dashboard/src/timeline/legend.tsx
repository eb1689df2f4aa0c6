import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { kinds } from "./kinds"
import type { Stage } from "./stage"

/** The legend: the shown kinds, their colours, and the meaning of height and brightness. */
export function Legend({ stage, children }: { stage: Stage; children?: ComponentChildren }) {
  const isOpen = useSignal(false)
  const toggle = (kind: number) => {
    const hidden = new Set(stage.hidden.value)
    if (!hidden.delete(kind)) hidden.add(kind)
    stage.hidden.value = hidden
  }
  const more = kinds.some((kind, index) => kind.isFolded && !stage.hidden.value.has(index))
  return (
    <div class="io-legend">
      <div class="io-kinds" role="group" aria-label="Kinds of disk work that are shown">
        {kinds.map((kind, index) =>
          kind.isFolded && !isOpen.value && !more ? null : (
            <button
              key={kind.name}
              type="button"
              class="io-kind"
              aria-pressed={!stage.hidden.value.has(index)}
              onClick={() => toggle(index)}
            >
              <span class={`io-chip io-chip-${kind.name}`} aria-hidden="true" />
              {kind.title}
            </button>
          ),
        )}
        <button
          type="button"
          class="io-kind io-more"
          aria-expanded={isOpen.value || more}
          disabled={more}
          onClick={() => {
            isOpen.value = !isOpen.value
          }}
        >
          {isOpen.value || more ? "Fewer kinds" : "More kinds"}
        </button>
      </div>
      {children}
      <p class="quiet io-meaning">
        Width is duration, brightness is bytes:{" "}
        <span class="io-scale">
          1 KiB <span class="io-ramp" aria-hidden="true" /> 4 MiB
        </span>
        . If a pixel shows several operations, its height grows with their time. Striped: only sums are known. ▼ slow sync.
      </p>
    </div>
  )
}
