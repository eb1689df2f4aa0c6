import { expect, test } from "vitest"
import { ageOf, ageText, keptBy, wholeNumber } from "../../src/database/record"
import { progressOf } from "../../src/database/subscription-progress"

test("An age is read and written as nodes have it", () => {
  expect(ageOf("14.00:00:00")).toEqual({ count: 14, unit: "days" })
  expect(ageOf("1.12:00:00")).toEqual({ count: 36, unit: "hours" })
  expect(ageOf("00:00:30")).toEqual({ count: 30, unit: "seconds" })
  expect(ageOf("00:00:00")).toEqual({ count: 0, unit: "seconds" })
  expect(ageOf("00:00:00.5000000")).toBeNull()
  expect(ageOf("soon")).toBeNull()
  expect(ageText(14, "days")).toBe("14.00:00:00")
  expect(ageText(36, "hours")).toBe("1.12:00:00")
  expect(ageText(90, "minutes")).toBe("0.01:30:00")
})

test("A rule is said in words", () => {
  const rule = {
    Disabled: false,
    MinimumRevisionsToKeep: null,
    MinimumRevisionAgeToKeep: null,
    PurgeOnDelete: false,
    MaximumRevisionsToDeleteUponDocumentUpdate: null,
  }
  expect(keptBy(rule)).toBe("all")
  expect(keptBy({ ...rule, MinimumRevisionsToKeep: 5, MinimumRevisionAgeToKeep: "1.00:00:00" })).toBe(
    "the newest 5, and all of the last 1 day",
  )
  expect(keptBy({ ...rule, Disabled: true })).toBe("no new revisions")
})

test("A field takes whole numbers, and nothing", () => {
  expect(["", " 7 ", "0", "-1", "1.5", "x", "2147483648"].map((text) => wholeNumber(text))).toEqual([
    null,
    7,
    0,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test("The progress of a subscription is said in etags of the database", () => {
  expect(progressOf(null, 5).text).toBe("nothing yet")
  expect(progressOf("A:1200-abc", 4000)).toEqual({ text: "up to 1,200 of 4,000", isDone: false })
  expect(progressOf("A:4000-abc", 4000)).toEqual({ text: "all", isDone: true })
  expect(progressOf("A:7-abc", null).text).toBe("up to 7")
})
