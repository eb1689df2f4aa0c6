import { kinds } from "./kinds"

/** Levels of brightness. More could not be distinguished. */
export const Levels = 16

const LeastBytes = 10 // 1 KiB, as a power of two
const MostBytes = 22 // 4 MiB

/** Returns the level of brightness for a number of bytes, logarithmically from 1 KiB to 4 MiB. */
export function levelOf(bytes: number): number {
  if (bytes <= 0) return 0
  const share = (Math.log2(bytes) - LeastBytes) / (MostBytes - LeastBytes)
  return Math.max(0, Math.min(Levels - 1, Math.round(share * (Levels - 1))))
}

/** The theme's colours as values of canvas pixels. */
export interface Palette {
  ground: number
  lane: number
  grid: number
  /** Colours of boxes, by kind, then level. */
  boxes: Uint32Array[]
  /** Colours of texts in a box, as CSS: by kind, then level. */
  words: string[][]
  /** Colour between two adjacent boxes. */
  edge: number
  slow: number
  slowWords: string
  verySlow: number
  verySlowWords: string
  verySlowBand: number
  quiet: string
  rim: string
  /** Colours of the lines. */
  lines: number[]
  limit: number
}

type Rgb = readonly [number, number, number]

/** Reads the current colours of theme.css, dark or light. */
export function readPalette(): Palette {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D
  const style = getComputedStyle(document.documentElement)
  const read = (role: string): Rgb => {
    probe.fillStyle = style.getPropertyValue(role).trim()
    probe.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0] = probe.getImageData(0, 0, 1, 1).data
    return [red, green, blue]
  }
  const ground = read("--panel")
  const text = read("--text")
  const lane = mix(ground, read("--ground"), 0.75)
  const readable = (below: Rgb) => (contrast(below, text) >= contrast(below, ground) ? text : ground)
  const ramps = kinds.map((kind) => {
    const full = read(kind.colour)
    return Array.from({ length: Levels }, (_, level) => mix(lane, full, 0.34 + (0.66 * level) / (Levels - 1)))
  })
  return {
    ground: word(ground),
    lane: word(lane),
    grid: word(mix(ground, read("--line"), 0.8)),
    boxes: ramps.map((ramp) => Uint32Array.from(ramp, word)),
    words: ramps.map((ramp) => ramp.map((colour) => css(readable(colour)))),
    edge: word(lane),
    slow: word(read("--warning")),
    slowWords: css(readable(read("--warning"))),
    verySlow: word(read("--bad")),
    verySlowWords: css(readable(read("--bad"))),
    verySlowBand: word(mix(ground, read("--bad"), 0.22)),
    quiet: css(read("--quiet")),
    rim: css(ground),
    lines: [word(read("--accent")), word(read("--good")), word(read("--bad"))],
    limit: word(mix(ground, read("--bad"), 0.45)),
  }
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  return [0, 1, 2].map((part) => Math.round((one[part] as number) * (1 - share) + (other[part] as number) * share)) as unknown as Rgb
}

/** Packs a colour with red in the lowest byte, because browsers run on little-endian machines only. */
function word([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`
}

/** Returns the contrast ratio of two colours by WCAG. */
function contrast(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
