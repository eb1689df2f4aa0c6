import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { CodeLines, lineStartsOf } from "./code-lines"
import type { Highlighter } from "./highlight"
import "./code-colours.css"
import "./code-editor.css"

const LineHeight = 20

/** Maximum number of drawn characters of a line. Browsers do not draw a line of megabytes at all. */
const Columns = 240

/** A read-only view of a text that is too long for a textarea. Draws only the beginnings of the visible lines. */
export function LargeText({ label, value, highlight }: { label: string; value: string; highlight: Highlighter }) {
  const frame = useRef<HTMLDivElement>(null)
  const view = useSignal({ top: 0, left: 0, height: 600 })
  const line = useSignal(LineHeight)
  const starts = useMemo(() => lineStartsOf(value), [value])
  const look = () => {
    const at = frame.current
    if (at) view.value = { top: at.scrollTop, left: at.scrollLeft, height: at.clientHeight }
  }
  useEffect(() => {
    if (frame.current) line.value = Number.parseFloat(getComputedStyle(frame.current).lineHeight) || LineHeight
    look()
  }, [])
  return (
    <div class="code-editor tall read-only">
      <CodeLines
        value={value}
        starts={starts}
        highlight={highlight}
        wrongAt={null}
        view={view.value}
        line={line.value}
        cutAt={Columns - 1}
      />
      <div ref={frame} class="code-scroll" role="region" aria-label={label} tabIndex={0} onScroll={look}>
        <div style={{ height: `${starts.length * line.value}px` }} />
      </div>
    </div>
  )
}
