import { bytes } from "../shell/format"
import { JournalSync, kinds } from "./kinds"
import { LanePixels } from "./lane-pixels"
import { LineNames, Temperature } from "./lines"
import { findMarks, MarkVerySlow } from "./marks"
import { Micro, type NodeStore } from "./node-store"
import { levelOf, type Palette } from "./palette"
import { PixelBuffer } from "./pixel-buffer"
import { SumLayers } from "./sum-layers"
import { durationText } from "./text"
import { firstTick, tickStep, type View, zoneOffset } from "./view"

/** Heights in CSS pixels. timeline.css has the same ones for the names beside the lanes. */
export const LinesHeight = 64
export const LaneHeight = 24
const LaneGap = 3
const TickPixels = 90
const WordPixels = 48
const LongWordPixels = 118
const MostWords = 4096
/** Zoom from which sums are striped: a second is 12 pixels wide. */
const StripedPerPixel = Micro / 12

/**
 * Latency is drawn logarithmically from 0.1 ms to 10 s, temperature from 20 to 90 °C. The scales are fixed, so that
 * lines do not jump while the view moves, and nodes can be compared.
 */
const LeastMilliseconds = 0.1
const LatencyDecades = 5
const ColdestCelsius = 20
const WarmestCelsius = 90
/** Temperature at which background work pauses. */
const HotCelsius = 80
/** Labels of the scales: latency at the left, temperature at the right. */
const ScaleLabels = [
  { line: 0, value: 1000, text: "1 s" },
  { line: 0, value: 10, text: "10 ms" },
  { line: Temperature, value: HotCelsius, text: "80 °C" },
  { line: Temperature, value: 40, text: "40 °C" },
]
const GapMicroseconds = 300 * Micro

/** Draws one node: its lines, and a lane for each kind. Allocates only when the size changes, not for a frame. */
export class TrackCanvas {
  /** The lanes of the last frame, by kind; also used to find what is below the pointer. */
  readonly lanes = kinds.map(() => new LanePixels())
  private readonly context: CanvasRenderingContext2D
  private buffer = new PixelBuffer(1, 1)
  private ratio = 1
  private font = ""
  private tops = new Int16Array(1)
  private colours = new Uint32Array(1)
  private insetColours = new Uint32Array(1)
  private readonly layers = new SumLayers()
  private marks = new Uint8Array(1)
  private heights = new Float32Array(1)
  private readonly durations = new Map<number, string>()
  private readonly sizes = new Map<number, string>()

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly store: NodeStore,
  ) {
    this.context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D
  }

  get width(): number {
    return this.buffer.width
  }

  get pixelRatio(): number {
    return this.ratio
  }

  /** Sets the canvas' size in device pixels. Must be called before the first frame. */
  resize(width: number, height: number, ratio: number): void {
    if (width < 1 || height < 1 || (width === this.buffer.width && height === this.buffer.height && ratio === this.ratio)) return
    this.canvas.width = width
    this.canvas.height = height
    this.ratio = ratio
    this.font = `${this.scaled(10)}px system-ui, "DejaVu Sans", sans-serif`
    this.buffer = new PixelBuffer(width, height)
    this.tops = new Int16Array(width)
    this.colours = new Uint32Array(width)
    this.insetColours = new Uint32Array(width)
    this.layers.resize(width)
    this.marks = new Uint8Array(width)
    this.heights = new Float32Array(width)
  }

  draw(view: View, shown: readonly number[], palette: Palette): void {
    const perPixel = view.span / this.buffer.width
    this.buffer.clear(palette.ground)
    this.layers.prepare(this.store, view.from, perPixel)
    for (const kind of shown) {
      const lane = this.lanes[kind] as LanePixels
      lane.begin(this.buffer.width)
      this.layers.fill(this.store, lane, kind, view.from, perPixel)
    }

    for (let place = 0; place < shown.length; place++) this.drawGround(place, palette)
    this.drawGrid(view, perPixel, palette)
    this.drawLines(view.from, perPixel, palette)
    for (let place = 0; place < shown.length; place++) this.drawLane(place, shown[place] as number, view.from, perPixel, palette)
    this.context.putImageData(this.buffer.image, 0, 0)
    this.drawScale(palette)
    for (let place = 0; place < shown.length; place++) this.drawWords(place, shown[place] as number, palette)
  }

  /** Returns the lane at a height in CSS pixels: its position among the shown lanes, -1 for none. */
  laneAt(y: number, lanes: number): number {
    const place = Math.floor((y - LinesHeight) / LaneHeight)
    return place >= 0 && place < lanes ? place : -1
  }

  private scaled(cssPixels: number): number {
    return Math.round(cssPixels * this.ratio)
  }

  private laneTop(place: number): number {
    return this.scaled(LinesHeight + place * LaneHeight)
  }

  private get laneInside(): number {
    return this.scaled(LaneHeight - LaneGap)
  }

  private drawGround(place: number, palette: Palette): void {
    this.buffer.rectangle(0, this.laneTop(place), this.buffer.width, this.laneInside, palette.lane)
  }

  private drawGrid(view: View, perPixel: number, palette: Palette): void {
    const step = tickStep(perPixel, TickPixels * this.ratio)
    for (let at = firstTick(view.from, step, zoneOffset(view.from)); at < view.from + view.span; at += step) {
      this.buffer.rectangle(Math.round((at - view.from) / perPixel), 0, 1, this.buffer.height, palette.grid)
    }
  }

  private drawLines(from: number, perPixel: number, palette: Palette): void {
    const bottom = this.scaled(LinesHeight - LaneGap)
    for (let decade = 1; decade < LatencyDecades; decade++) {
      this.buffer.rectangle(0, Math.round(bottom * (1 - decade / LatencyDecades)), this.buffer.width, 1, palette.grid)
    }

    const hot = Math.round(this.heightOf(Temperature, HotCelsius, bottom))
    for (let column = 0; column < this.buffer.width; column += this.scaled(8))
      this.buffer.rectangle(column, hot, this.scaled(3), 1, palette.limit)
    for (let line = LineNames.length - 1; line >= 0; line--) {
      this.findHeights(line, from, perPixel, bottom)
      this.buffer.line(this.heights, 1.5 * this.ratio, palette.lines[line] as number, 0, bottom)
    }
  }

  private heightOf(line: number, value: number, bottom: number): number {
    const share =
      line === Temperature
        ? (value - ColdestCelsius) / (WarmestCelsius - ColdestCelsius)
        : Math.log10(Math.max(value, LeastMilliseconds) / LeastMilliseconds) / LatencyDecades
    return bottom * (1 - Math.max(0, Math.min(1, share)))
  }

  /**
   * Computes the height of a line in each column: the maximum of its samples there, or interpolated between the nearest
   * samples.
   */
  private findHeights(line: number, from: number, perPixel: number, bottom: number): void {
    const { lines } = this.store
    const values = lines.values[line] as Float64Array
    const gap = Math.max(GapMicroseconds, 4 * perPixel)
    let next = lines.firstFrom(from)
    for (let column = 0; column < this.heights.length; column++) {
      const end = from + (column + 1) * perPixel
      let highest = Number.NaN
      for (; next < lines.size && (lines.time[next] as number) < end; next++) {
        const value = values[next] as number
        if (!(highest >= value)) highest = value
      }

      if (!Number.isNaN(highest)) {
        this.heights[column] = this.heightOf(line, highest, bottom)
        continue
      }

      this.heights[column] = Number.NaN
      if (next === 0 || next === lines.size) continue
      const before = lines.time[next - 1] as number
      const after = lines.time[next] as number
      if (after - before > gap) continue
      const share = (end - perPixel / 2 - before) / (after - before)
      // Interpolates linearly in the drawing, also on a logarithmic scale. Unknown values stay unknown.
      const left = values[next - 1] as number
      const right = values[next] as number
      if (Number.isNaN(left) || Number.isNaN(right)) continue
      this.heights[column] = this.heightOf(line, left, bottom) * (1 - share) + this.heightOf(line, right, bottom) * share
    }
  }

  private drawLane(place: number, kind: number, from: number, perPixel: number, palette: Palette): void {
    const lane = this.lanes[kind] as LanePixels
    const height = this.laneInside
    const top = this.laneTop(place)
    const inset = top + Math.round(height * 0.5)
    if (kind === JournalSync) {
      findMarks(this.store, lane, from, perPixel, this.marks)
      this.drawBands(palette)
    }

    this.findColumns(lane, kind, perPixel, height, palette)
    const { words, width } = this.buffer
    for (let row = 0; row < height; row++) {
      const line = (top + row) * width
      for (let column = 0; column < width; column++) {
        if (row >= (this.tops[column] as number)) words[line + column] = this.colours[column] as number
        if (top + row >= inset && this.insetColours[column] !== 0) words[line + column] = this.insetColours[column] as number
      }
    }

    if (kind === JournalSync) this.drawMarks(top, height, palette)
  }

  /** Computes the top and the colour of each column of a lane. */
  private findColumns(lane: LanePixels, kind: number, perPixel: number, height: number, palette: Palette): void {
    const ramp = palette.boxes[kind] as Uint32Array
    const least = this.scaled(3)
    const edges = Math.max(3, this.scaled(4))
    const isStriped = perPixel < StripedPerPixel
    const stripe = this.scaled(6)
    for (let column = 0; column < lane.width; column++) {
      const box = lane.box[column] as number
      const inset = lane.inset[column] as number
      this.tops[column] = height
      this.insetColours[column] = 0
      if (box !== 0) {
        this.tops[column] = 0
        const begins = column > 0 && lane.box[column - 1] !== box && lane.box[Math.min(lane.width - 1, column + edges)] === box
        this.colours[column] = begins ? palette.edge : (ramp[levelOf(this.store.bytesOf(kind, box))] as number)
      } else if ((lane.count[column] as number) > 0 || (lane.busy[column] as number) > 0) {
        // The square root makes a load of one percent distinguishable from ten percent.
        const share = Math.sqrt(Math.min(1, (lane.busy[column] as number) / perPixel))
        this.tops[column] = height - Math.max(least, Math.round(share * height))
        this.colours[column] = ramp[levelOf(this.meanBytes(lane, column, kind))] as number
        // Stripes show that only a sum is known at a zoom that would show single events.
        if (isStriped && lane.isSum[column] && column % stripe < stripe / 2) this.tops[column] = height - this.scaled(1)
      }

      if (inset !== 0) {
        const begins = column > 0 && lane.inset[column - 1] !== inset
        this.insetColours[column] = begins ? palette.edge : (ramp[levelOf(this.store.bytesOf(kind, inset))] as number)
      }
    }
  }

  private meanBytes(lane: LanePixels, column: number, kind: number): number {
    const count = lane.count[column] as number
    if (count > 0) return (lane.bytes[column] as number) / count
    const event = lane.longestEvent[column] as number
    return event === 0 ? 0 : this.store.bytesOf(kind, event)
  }

  /** Draws slow syncs across all lanes, because other work waits for them. */
  private drawBands(palette: Palette): void {
    for (let column = 0; column < this.buffer.width; column++) {
      if (this.marks[column] !== MarkVerySlow) continue
      const bottom = this.buffer.height
      const lane = palette.lane
      const { words, width } = this.buffer
      for (let row = 0; row < bottom; row++) {
        const index = row * width + column
        if (words[index] === lane || words[index] === palette.ground || words[index] === palette.grid) words[index] = palette.verySlowBand
      }
    }
  }

  private drawMarks(top: number, height: number, palette: Palette): void {
    const half = this.scaled(4)
    const least = this.scaled(2)
    let column = 0
    while (column < this.buffer.width) {
      const mark = this.marks[column] as number
      if (mark === 0) {
        column++
        continue
      }

      let end = column + 1
      while (end < this.buffer.width && this.marks[end] === mark) end++
      const colour = mark === MarkVerySlow ? palette.verySlow : palette.slow
      this.buffer.rectangle(column, top, Math.max(least, end - column), height, colour)
      this.buffer.pointer(Math.round((column + end - 1) / 2), top - half - 1, half, colour)
      column = end
    }
  }

  private drawScale(palette: Palette): void {
    const { context } = this
    const bottom = this.scaled(LinesHeight - LaneGap)
    context.font = this.font
    context.textBaseline = "middle"
    context.fillStyle = palette.quiet
    for (const label of ScaleLabels) {
      const isRight = label.line === Temperature
      context.textAlign = isRight ? "right" : "left"
      context.fillText(
        label.text,
        isRight ? this.buffer.width - this.scaled(3) : this.scaled(3),
        this.heightOf(label.line, label.value, bottom),
      )
    }
  }

  private drawWords(place: number, kind: number, palette: Palette): void {
    const lane = this.lanes[kind] as LanePixels
    const least = this.scaled(WordPixels)
    const middle = this.laneTop(place) + this.laneInside / 2
    let column = 0
    while (column < lane.width) {
      const box = lane.box[column] as number
      let end = column + 1
      while (end < lane.width && lane.box[end] === box) end++
      if (box !== 0 && end - column >= least) {
        const moved = this.store.bytesOf(kind, box)
        const duration = this.store.columnsOf(kind, box).duration[Math.abs(box) - 1] as number
        this.context.fillStyle = this.wordColour(kind, column, moved, palette)
        this.context.textAlign = "left"
        this.context.fillText(this.durationWords(duration), column + this.scaled(6), middle)
        if (moved > 0 && end - column >= this.scaled(LongWordPixels)) {
          this.context.textAlign = "right"
          this.context.fillText(this.bytesWords(moved), end - this.scaled(6), middle)
        }
      }

      column = end
    }
  }

  private wordColour(kind: number, column: number, moved: number, palette: Palette): string {
    const mark = kind === JournalSync ? this.marks[column] : 0
    if (mark) return mark === MarkVerySlow ? palette.verySlowWords : palette.slowWords
    return palette.words[kind]?.[levelOf(moved)] ?? palette.quiet
  }

  // Caches texts: new strings for each frame and box would burden the garbage collector.
  private durationWords(duration: number): string {
    return this.durations.get(duration) ?? remembered(this.durations, duration, durationText(duration))
  }

  private bytesWords(moved: number): string {
    return this.sizes.get(moved) ?? remembered(this.sizes, moved, bytes(moved))
  }
}

function remembered(words: Map<number, string>, key: number, text: string): string {
  if (words.size >= MostWords) words.clear()
  words.set(key, text)
  return text
}
