import { useEffect, useRef } from "preact/hooks"
import { whenResized } from "./fitted"
import { JournalSync, kinds } from "./kinds"
import { LanePixels } from "./lane-pixels"
import { findMarks, MarkVerySlow } from "./marks"
import { DayMicroseconds, Micro, type NodeStore } from "./node-store"
import type { Palette } from "./palette"
import { PixelBuffer } from "./pixel-buffer"
import type { Stage } from "./stage"
import { SumLayers } from "./sum-layers"
import { kept, type View } from "./view"

const RowHeight = 12
const RowGap = 2
/**
 * The strip is redrawn if it moved by this much, and for new data: often at first, then rarely, because a second is not
 * visible in a day.
 */
const StepMicroseconds = 60 * Micro
const FirstPatienceMilliseconds = 300
const MostPatienceMilliseconds = 20_000

/**
 * An overview of the day with a row for each node: the load of its disk, and its slow syncs. A frame shows the current
 * view; a click or a drag moves it.
 */
export function Strip({ stage, stores }: { stage: Stage; stores: readonly NodeStore[] }) {
  const surface = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const windowFrame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement
    const place = surface.current as HTMLDivElement
    const painter = new StripPainter(element)
    let day: View = { from: 0, span: DayMicroseconds }
    let drawnAt = Number.NEGATIVE_INFINITY
    let drawnPalette: Palette | undefined
    let drawnAdditions = -1
    let patience = FirstPatienceMilliseconds
    const unfit = whenResized(element, (width, height, ratio) => {
      painter.resize(width, height, ratio)
      drawnAt = Number.NEGATIVE_INFINITY
      stage.request()
    })
    const draw = (view: View, palette: Palette) => {
      const now = performance.now()
      const end = stage.bounds.newest
      const isMoved = Math.abs(day.from + day.span - end) >= StepMicroseconds || palette !== drawnPalette
      const isNew = isMoved || drawnAt < 0 || (stage.additions !== drawnAdditions && now - drawnAt > patience)
      if (isNew) {
        // A file may be of another day. Then the strip covers all known data.
        const span = Math.max(DayMicroseconds, end - stage.bounds.oldest)
        day = { from: end - span, span }
        drawnAt = now
        drawnAdditions = stage.additions
        patience = Math.min(MostPatienceMilliseconds, patience * 1.6)
        drawnPalette = palette
        painter.draw(stores, day, palette)
      }

      const width = place.clientWidth
      const left = Math.max(0, ((view.from - day.from) / day.span) * width)
      const right = Math.min(width, ((view.from + view.span - day.from) / day.span) * width)
      const frame = windowFrame.current as HTMLDivElement
      const wide = Math.max(6, right - left)
      frame.style.transform = `translateX(${Math.max(0, Math.min(width - wide, left - (wide - (right - left)) / 2))}px)`
      frame.style.width = `${wide}px`
    }
    const goTo = (event: PointerEvent) => {
      if (!event.buttons && event.type !== "pointerdown") return
      if (event.type === "pointerdown") place.setPointerCapture(event.pointerId)
      const box = place.getBoundingClientRect()
      const middle = day.from + ((event.clientX - box.left) / box.width) * day.span
      stage.isFollowing.value = false
      stage.go(kept({ from: middle - stage.view.span / 2, span: stage.view.span }, stage.bounds), false)
    }
    place.addEventListener("pointerdown", goTo)
    place.addEventListener("pointermove", goTo)
    stage.drawings.add(draw)
    stage.request()
    return () => {
      stage.drawings.delete(draw)
      place.removeEventListener("pointerdown", goTo)
      place.removeEventListener("pointermove", goTo)
      unfit()
    }
  }, [stage, stores])
  return (
    <div class="io-strip">
      <div class="io-strip-names" aria-hidden="true">
        {stores.map((store, index) => (
          <span key={index} class="quiet">
            {store.tag}
          </span>
        ))}
      </div>
      <div
        ref={surface}
        class="io-strip-plot"
        title="The last day: click to go there"
        style={{ height: `${Math.max(1, stores.length) * (RowHeight + RowGap)}px` }}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <div ref={windowFrame} class="io-window" />
      </div>
    </div>
  )
}

/** Draws the rows. Runs rarely, so it is not optimised. */
class StripPainter {
  private buffer = new PixelBuffer(1, 1)
  private ratio = 1
  private readonly context: CanvasRenderingContext2D
  private readonly layers = new SumLayers()

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D
  }

  resize(width: number, height: number, ratio: number): void {
    if (width < 1 || height < 1) return
    this.canvas.width = width
    this.canvas.height = height
    this.buffer = new PixelBuffer(width, height)
    this.ratio = ratio
    this.layers.resize(width)
  }

  draw(stores: readonly NodeStore[], day: View, palette: Palette): void {
    const perPixel = day.span / this.buffer.width
    this.buffer.clear(palette.ground)
    stores.forEach((store, row) => this.drawRow(store, row, day.from, perPixel, palette))
    this.context.putImageData(this.buffer.image, 0, 0)
  }

  private drawRow(store: NodeStore, row: number, from: number, perPixel: number, palette: Palette): void {
    const { width } = this.buffer
    const top = Math.round(row * (RowHeight + RowGap) * this.ratio)
    const height = Math.round(RowHeight * this.ratio)
    this.buffer.rectangle(0, top, width, height, palette.lane)
    const busy = new Float64Array(width)
    const marks = new Uint8Array(width)
    this.layers.prepare(store, from, perPixel)
    kinds.forEach((_, kind) => {
      const lane = new LanePixels()
      lane.begin(width)
      this.layers.fill(store, lane, kind, from, perPixel)
      for (let column = 0; column < width; column++)
        busy[column] = (busy[column] as number) + (lane.box[column] ? perPixel : (lane.busy[column] as number))
      if (kind === JournalSync) findMarks(store, lane, from, perPixel, marks)
    })
    const colours = palette.boxes[JournalSync] as Uint32Array
    const work = palette.boxes[0] as Uint32Array
    for (let column = 0; column < width; column++) {
      const share = Math.min(1, (busy[column] as number) / perPixel)
      if (share > 0) {
        const tall = Math.max(1, Math.round(height * share))
        this.buffer.rectangle(column, top + height - tall, 1, tall, work[Math.round(6 + 9 * share)] as number)
      }

      if (marks[column] === MarkVerySlow)
        this.buffer.rectangle(column, top, Math.max(1, Math.round(1.5 * this.ratio)), height, palette.verySlow)
      else if (marks[column])
        this.buffer.rectangle(column, top, Math.max(1, Math.round(this.ratio)), Math.round(height / 2), colours[15] as number)
    }
  }
}
