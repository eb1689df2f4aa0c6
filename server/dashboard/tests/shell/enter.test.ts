import { afterEach, beforeEach, expect, test, vi } from "vitest"

let location: { hash: string }
let whenChanged: () => void

/** The page's modules, as after the page was loaded with a fragment. */
async function load(hash: string) {
  location.hash = hash
  const { enter, lost } = await import("../../src/shell/enter")
  const { session } = await import("../../src/shell/session")
  return { enter, lost, session }
}

/** Lets the node answer requests one after the other. Each answer is a status, or null for none. Returns the requests. */
function answer(...statuses: (number | null)[]) {
  const sent: string[] = []
  vi.stubGlobal("fetch", (path: string, { method, body = "" }: { method: string; body?: string }) => {
    sent.push(`${method} ${path} ${body}`.trim())
    const status = statuses.shift()
    if (status === undefined) return Promise.reject(new Error("asked too often"))
    if (status === null) return Promise.reject(new TypeError("refused"))
    return Promise.resolve(
      new Response(method === "GET" ? JSON.stringify({ SignedIn: false, Scopes: [], Databases: null }) : null, { status }),
    )
  })
  return sent
}

beforeEach(() => {
  vi.resetModules()
  vi.useFakeTimers()
  location = { hash: "" }
  vi.stubGlobal("location", location)
  vi.stubGlobal("history", {
    replaceState: (_state: unknown, _title: string, hash: string) => {
      location.hash = hash
    },
  })
  vi.stubGlobal("addEventListener", (_name: string, call: () => void) => {
    whenChanged = call
  })
  vi.stubGlobal("document", { addEventListener: () => {}, hidden: true })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test("A node that does not answer is asked again until it says who this browser is", async () => {
  const asked = answer(null, null, 200)
  const { enter, lost, session } = await load("")
  await enter()
  expect(lost.value).toBe("This node does not answer. Trying again …")
  expect(session.value).toBeNull()
  await vi.advanceTimersByTimeAsync(2000)
  expect(lost.value).not.toBe("")
  await vi.advanceTimersByTimeAsync(2000)
  expect(lost.value).toBe("")
  expect(session.value?.SignedIn).toBe(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toEqual(["GET /session", "GET /session", "GET /session"])
})

test("A kiosk's token leaves the address at once, and is sent until the node can decide about it", async () => {
  const asked = answer(null, 503, 429, 204, 200)
  const { enter, lost } = await load("#kiosk=rookery_a")
  expect(location.hash).toBe("#/")
  await enter()
  await vi.advanceTimersByTimeAsync(6000)
  expect(lost.value).toBe("")
  expect(asked).toEqual([...Array<string>(4).fill('POST /session {"Token":"rookery_a"}'), "GET /session"])
})

test("A kiosk link that the node refuses, or that was truncated, is reported once", async () => {
  const asked = answer(401, 200)
  const { enter, lost } = await load("#kiosk=rookery%")
  await enter()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lost.value).toMatch(/^This kiosk link is not valid/)
  expect(asked).toEqual(['POST /session {"Token":"rookery%"}', "GET /session"])
})

test("A kiosk link that is opened where the page is shown already signs in, too", async () => {
  const asked = answer(200, 204, 200)
  const { enter } = await load("#/")
  await enter()
  location.hash = "#kiosk=rookery_b"
  whenChanged()
  await vi.advanceTimersByTimeAsync(0)
  expect(location.hash).toBe("#/")
  expect(asked).toEqual(["GET /session", 'POST /session {"Token":"rookery_b"}', "GET /session"])
})
