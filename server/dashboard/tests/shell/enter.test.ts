import { afterEach, beforeEach, expect, test, vi } from "vitest"

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal("location", { hash: "" })
  vi.stubGlobal("document", { addEventListener: () => {}, hidden: true })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test("A node that does not answer is asked again until it says who this browser is", async () => {
  const answers = [
    () => Promise.reject(new TypeError("refused")),
    () => Promise.reject(new TypeError("refused")),
    () => Promise.resolve(new Response(JSON.stringify({ SignedIn: false, Scopes: [], Databases: null }))),
  ]
  const asked = vi.fn((_: string) => answers[asked.mock.calls.length - 1]?.() ?? Promise.reject(new Error("asked too often")))
  vi.stubGlobal("fetch", asked)
  const { enter, lost } = await import("../../src/shell/enter")
  const { session } = await import("../../src/shell/session")

  await enter()
  expect(lost.value).toBe("This node does not answer. Trying again …")
  expect(session.value).toBeNull()
  await vi.advanceTimersByTimeAsync(2000)
  expect(lost.value).not.toBe("")
  await vi.advanceTimersByTimeAsync(2000)
  expect(lost.value).toBe("")
  expect(session.value?.SignedIn).toBe(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked.mock.calls.map(([path]) => path)).toEqual(["/session", "/session", "/session"])
})
