import { describe, expect, it } from "vitest"
import { durationText, fractionText, timeText } from "../src/timeline/text"
import { between, firstTick, kept, moved, NarrowestMicroseconds, tickStep, WidestMicroseconds, zoomed } from "../src/timeline/view"

const Day = 86_400_000_000
const Now = 1_790_000_000_000_000
const bounds = { oldest: Now - Day, newest: Now }

describe("the view", () => {
  it("keeps the time under the pointer in place while it zooms in and out", () => {
    let view = { from: Now - 3_600_000_000, span: 3_600_000_000 }
    const at = view.from + view.span * 0.3
    for (const factor of [1.7, 4, 9, 33, 0.5, 0.1, 2]) {
      view = zoomed(view, factor, 0.3, bounds)
      expect((at - view.from) / view.span).toBeCloseTo(0.3, 3)
    }
  })

  it("zooms out to a day and in to microseconds at most", () => {
    const view = { from: Now - 1000, span: 1000 }
    expect(zoomed(view, 1e9, 0.5, bounds).span).toBe(NarrowestMicroseconds)
    expect(zoomed(view, 1e-12, 0.5, bounds).span).toBe(WidestMicroseconds)
  })

  it("moves at most half its span beyond the known time", () => {
    const view = { from: Now - 60_000_000, span: 60_000_000 }
    expect(moved(view, 1000, bounds).from).toBe(Now - 30_000_000)
    expect(moved(view, -1e6, bounds).from).toBe(Now - Day - 30_000_000)
    expect(kept(view, bounds)).toEqual(view)
  })

  it("glides by a constant ratio and keeps the fixed point of the zoom in place", () => {
    const from = { from: Now - Day, span: Day }
    const to = zoomed(from, 1000, 0.75, bounds)
    const fixed = from.from + from.span * 0.75
    for (const part of [0, 0.2, 0.5, 0.9, 1]) {
      const view = between(from, to, part)
      expect(view.span).toBeCloseTo(Day * 1000 ** -part, -1)
      expect((fixed - view.from) / view.span).toBeCloseTo(0.75, 4)
    }
  })
})

describe("ticks", () => {
  it("are at least the requested pixels apart, and less than six times as far", () => {
    for (let perPixel = 0.2; perPixel < 80_000_000; perPixel *= 1.3) {
      const step = tickStep(perPixel, 90)
      expect(step / perPixel).toBeGreaterThanOrEqual(90)
      expect(step / perPixel).toBeLessThan(90 * 6)
    }
  })

  it("begin at round times of the local time zone", () => {
    // Two hours ahead of UTC a tick of six hours is at 00:00 there, which is 22:00 UTC.
    const step = 6 * 3_600_000_000
    const tick = firstTick(Now, step, 120)
    expect((tick + 2 * 3_600_000_000) % step).toBe(0)
    expect(tick).toBeGreaterThanOrEqual(Now)
    expect(tick - Now).toBeLessThan(step)
  })
})

describe("words", () => {
  it("give durations three figures", () => {
    expect([0, 7, 999, 7130, 71_300, 713_000, 7_130_000, 71_300_000, 3_600_000_000].map(durationText)).toEqual([
      "0 µs",
      "7 µs",
      "999 µs",
      "7.13 ms",
      "71.3 ms",
      "713 ms",
      "7.13 s",
      "71.3 s",
      "60.0 min",
    ])
  })

  it("give times as exactly as the step between them", () => {
    const time = 1_790_000_001_234_567
    const seconds = timeText(time, 1_000_000)
    expect(seconds).toMatch(/^\d\d:\d\d:\d\d$/)
    expect(timeText(time, 3_600_000_000)).toBe(seconds.slice(0, 5))
    expect(timeText(time, 1000)).toBe(`${seconds}.234`)
    expect(timeText(time, 1)).toBe(`${seconds}.234 567`)
    expect(fractionText(time, 10)).toBe(".234 567")
  })
})
