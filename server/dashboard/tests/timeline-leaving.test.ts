import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { LiveSource } from "../src/timeline/live-source"
import { NodeStore } from "../src/timeline/node-store"
import { Stage } from "../src/timeline/stage"

const frames: (() => void)[] = []

beforeEach(() => {
  frames.length = 0
  vi.useFakeTimers()
  vi.stubGlobal("document", { hidden: false, documentElement: {}, addEventListener: () => {}, removeEventListener: () => {} })
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }))
  vi.stubGlobal(
    "MutationObserver",
    class {
      observe() {}
      disconnect() {}
    },
  )
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => frames.push(draw))
  vi.stubGlobal("cancelAnimationFrame", (frame: number) => frames.splice(frame - 1, 1))
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe("The range of the known data", () => {
  it("is that of the stores that are shown, and follows what they forget", () => {
    const stage = new Stage()
    const day = 86_400_000_000
    const now = stage.bounds.newest
    const live = { oldest: now - 8 * day, newest: now }
    const file = { oldest: now - 365 * day, newest: now - 364 * day }
    stage.addKnown(live)
    stage.addKnown(file)
    expect(stage.bounds.oldest).toBe(file.oldest)
    stage.keepKnown(new Set([live]))
    expect(stage.bounds.oldest).toBe(live.oldest)
    live.oldest = now - day
    stage.addKnown(live)
    expect(stage.bounds.oldest).toBe(live.oldest)
    stage.stop()
  })
})

describe("Leaving the timeline", () => {
  it("stops drawing, even when new events or requests arrive later", () => {
    // A hidden page requests no frame, so no frame is pending when the stage stops.
    const page = document as unknown as { hidden: boolean }
    page.hidden = true
    const stage = new Stage()
    page.hidden = false
    stage.stop()
    expect(frames).toHaveLength(0)
    stage.addKnown({ oldest: 1, newest: 2 }, 3)
    stage.request()
    stage.go({ from: 0, span: 1 }, true)
    expect(frames).toHaveLength(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  it("aborts the pending request and sends no other", async () => {
    const asked: AbortSignal[] = []
    vi.stubGlobal("fetch", (_: string, { signal }: { signal: AbortSignal }) => {
      asked.push(signal)
      return new Promise((_, refuse) => signal.addEventListener("abort", () => refuse(new DOMException("left", "AbortError"))))
    })
    const changed = vi.fn()
    const source = new LiveSource(new NodeStore("A", ""), changed)
    expect(asked.map((signal) => signal.aborted)).toEqual([false])
    source.stop()
    await vi.runAllTimersAsync()
    expect(asked.map((signal) => signal.aborted)).toEqual([true])
    expect([source.trouble.value, changed.mock.calls.length, vi.getTimerCount()]).toEqual(["", 0, 0])
  })
})
