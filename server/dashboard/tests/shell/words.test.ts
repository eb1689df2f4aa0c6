import { expect, test } from "vitest"
import { rightsOf } from "../../src/cluster/rights"
import { ago, celsius, lifetime, perSecond } from "../../src/shell/format"
import { parse } from "../../src/shell/fragment"
import type { Sample } from "../../src/shell/live"
import { powerOf } from "../../src/shell/node-words"

const sample = (Throttled: string[] | null, ThrottledSinceBoot: string[] | null) => ({ Throttled, ThrottledSinceBoot }) as Sample

test("A value that a board does not measure is shown as unknown, not as good", () => {
  expect(powerOf(null)).toEqual({ tone: "quiet", text: "unknown" })
  expect(powerOf(sample(null, null)).text).toBe("unknown")
  expect([celsius(null), perSecond(null), lifetime(null), ago(null)]).toEqual(["unknown", "unknown", "unknown", "unknown"])
})

test("Under-voltage is bad now, a warning if it was since the start, and steady if never", () => {
  expect(powerOf(sample(["under_voltage"], ["under_voltage"]))).toEqual({ tone: "bad", text: "under-voltage" })
  expect(powerOf(sample([], ["under_voltage"])).tone).toBe("warning")
  expect(powerOf(sample([], []))).toEqual({ tone: "good", text: "steady" })
})

test("A kiosk's token in the address is not taken for a page", () => {
  expect(parse("#kiosk=rookery_secret")).toMatchObject({ page: "", parts: [] })
  expect(parse("#/documents/shop/a%2Fb?filter=x")).toMatchObject({ page: "documents", parts: ["shop", "a/b"] })
})

test("The databases and rights of a certificate are parsed from text", () => {
  expect(rightsOf("shop:rw, birds")).toEqual({ shop: "rw", birds: "ro" })
  expect(rightsOf(" ")).toEqual({})
})
