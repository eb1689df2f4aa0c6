import { useEffect, useRef } from "preact/hooks"
import { whenResized } from "./fitted"
import type { Stage } from "./stage"
import { durationText, fractionText, timeText } from "./text"
import { firstTick, tickStep, type View, zoneOffset } from "./view"

const LabelPixels = 90
const Second = 1_000_000

/** The time axis above all nodes, with the width and the date of the view at its left. */
export function Axis({ stage }: { stage: Stage }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const when = useRef<HTMLSpanElement>(null)
  const span = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement
    const context = element.getContext("2d") as CanvasRenderingContext2D
    const labels = new Map<number, string>()
    let labelStep = 0
    let ratio = 1
    const unfit = whenResized(element, (width, height, newRatio) => {
      element.width = width
      element.height = height
      ratio = newRatio
      stage.request()
    })
    const draw = (view: View, palette: { quiet: string }) => {
      const { width, height } = element
      const perPixel = view.span / width
      const step = tickStep(perPixel, LabelPixels * ratio)
      if (step !== labelStep || labels.size > 1000) labels.clear()
      labelStep = step
      context.clearRect(0, 0, width, height)
      context.font = `${Math.round(11.5 * ratio)}px system-ui, "DejaVu Sans", sans-serif`
      context.fillStyle = palette.quiet
      context.textBaseline = "middle"
      context.textAlign = "left"
      const offset = zoneOffset(view.from)
      for (let at = firstTick(view.from - step, step, offset); at < view.from + view.span; at += step) {
        let label = labels.get(at)
        if (label === undefined) {
          label = fractionText(at, step)
          labels.set(at, label)
        }

        const x = Math.round((at - view.from) / perPixel)
        context.fillRect(x, height - Math.round(5 * ratio), Math.max(1, Math.round(ratio)), Math.round(5 * ratio))
        context.fillText(label, x + Math.round(4 * ratio), height / 2)
      }

      show(when.current, step < Second ? timeText(view.from, Second) : dayText(view.from))
      show(span.current, durationText(view.span))
    }
    stage.drawings.add(draw)
    return () => {
      stage.drawings.delete(draw)
      unfit()
    }
  }, [stage])
  return (
    <div class="io-axis">
      <div class="io-when">
        <span ref={when} />
        <span class="quiet" title="shown span" ref={span} />
      </div>
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  )
}

let shownDay = Number.NaN
let dayWords = ""

function dayText(microseconds: number): string {
  const day = Math.floor(microseconds / 60_000_000)
  if (day !== shownDay) {
    shownDay = day
    dayWords = new Date(microseconds / 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" })
  }

  return dayWords
}

function show(element: HTMLElement | null, text: string): void {
  if (element && element.textContent !== text) element.textContent = text
}
