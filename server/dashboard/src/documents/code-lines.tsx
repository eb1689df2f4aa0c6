import type { JSX } from "preact"
import { useMemo } from "preact/hooks"
import type { Highlighter, Stretch } from "./highlight"

interface CodeLinesProps {
  value: string
  /** Start of each line. */
  starts: readonly number[]
  highlight: Highlighter
  wrongAt: number | null
  view: { top: number; left: number; height: number }
  /** Height of a line. */
  line: number
  /** Maximum number of characters of a line that are drawn; undefined for all. */
  cutAt?: number
}

/**
 * Maximum length of a text that is highlighted as a whole, so that comments of several lines are recognised. Of a
 * longer text only the visible lines are highlighted.
 */
const WholeLength = 50_000
const LongestColoured = 4_000

/** The numbers and the coloured text of the visible lines. */
export function CodeLines({ value, starts, highlight, wrongAt, view, line, cutAt }: CodeLinesProps) {
  const first = Math.max(0, Math.floor(view.top / line) - 2)
  const last = Math.min(starts.length, first + Math.ceil(view.height / line) + 5)
  const isWhole = value.length <= WholeLength
  const begin = starts[first] ?? 0
  const end = starts[last] ?? value.length
  const whole = useMemo(() => (isWhole ? highlight(value) : []), [value, highlight])
  const stretches = isWhole
    ? whole
    : end - begin > WholeLength
      ? []
      : highlight(value.slice(begin, end)).map((stretch) => ({ ...stretch, start: stretch.start + begin, end: stretch.end + begin }))
  const wrongLine = wrongAt === null ? -1 : lineOf(starts, wrongAt)
  const rows: JSX.Element[] = []
  const numbers: JSX.Element[] = []
  let at = firstEndingAfter(stretches, begin)
  for (let i = first; i < last; i++) {
    const from = starts[i] ?? 0
    const lineEnd = (starts[i + 1] ?? value.length + 1) - 1
    const to = cutAt === undefined ? lineEnd : Math.min(lineEnd, from + cutAt)
    while (at < stretches.length && (stretches[at]?.end ?? 0) <= from) at++
    rows.push(
      <div key={i}>
        {to - from > LongestColoured ? value.slice(from, to) : piecesOf(value, from, to, stretches, at, i === wrongLine ? wrongAt : null)}
        {to < lineEnd && "…"}
      </div>,
    )
    numbers.push(
      <div key={i} class={i === wrongLine ? "wrong" : ""}>
        {i + 1}
      </div>,
    )
  }

  const down = first * line - view.top
  return (
    <>
      <div class="code-numbers" aria-hidden="true">
        <div style={{ transform: `translateY(${down}px)` }}>{numbers}</div>
      </div>
      <div class="code-colours" aria-hidden="true">
        <div style={{ transform: `translate(${-view.left}px, ${down}px)` }}>{rows}</div>
      </div>
    </>
  )
}

/** Returns the starts of the lines of a text. */
export function lineStartsOf(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  return starts
}

function lineOf(starts: readonly number[], at: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }

  return low
}

function firstEndingAfter(stretches: readonly Stretch[], begin: number): number {
  let low = 0
  let high = stretches.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((stretches[middle]?.end ?? 0) <= begin) low = middle + 1
    else high = middle
  }

  return low
}

function piecesOf(
  value: string,
  from: number,
  to: number,
  stretches: readonly Stretch[],
  at: number,
  wrongAt: number | null,
): (string | JSX.Element)[] {
  const pieces: (string | JSX.Element)[] = []
  const add = (start: number, end: number, role: string) => {
    // Splits a range at the wrong character, to mark it. At the end of a line the mark is separate.
    const cuts = wrongAt === null ? [] : [wrongAt, wrongAt + 1].filter((cut) => cut > start && cut < end)
    let begin = start
    for (const cut of [...cuts, end]) {
      const text = value.slice(begin, cut)
      const isWrong = wrongAt !== null && begin <= wrongAt && wrongAt < cut
      const roles = `${role}${isWrong ? " code-wrong" : ""}`.trim()
      if (text !== "") pieces.push(roles === "" ? text : <span class={roles}>{text}</span>)
      begin = cut
    }
  }

  let done = from
  for (let i = at; i < stretches.length && done < to; i++) {
    const stretch = stretches[i]
    if (!stretch || stretch.start >= to) break
    if (stretch.start > done) add(done, stretch.start, "")
    add(Math.max(stretch.start, done), Math.min(stretch.end, to), `code-${stretch.role}`)
    done = Math.min(stretch.end, to)
  }

  if (done < to) add(done, to, "")
  if (wrongAt !== null && wrongAt >= to) pieces.push(<span class="code-wrong"> </span>)
  if (pieces.length === 0) pieces.push("\u200b")
  return pieces
}
