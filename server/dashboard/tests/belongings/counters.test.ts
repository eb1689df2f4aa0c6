import { expect, test } from "vitest"
import { bodyOfOperation, countersOf, deltaProblem, grouped } from "../../src/belongings/counters"

test("A counter's value keeps all its digits", () => {
  const answer = '{"Counters":[{"DocumentId":"a","CounterName":"li\\"kes","TotalValue":9007199254740993},null]}'
  expect(countersOf(answer)).toEqual([{ name: 'li"kes', value: "9007199254740993" }])
  expect(grouped("-9007199254740993")).toBe("-9,007,199,254,740,993")
  expect(bodyOfOperation('a"', "likes", "Increment", 9007199254740993n)).toContain('"Delta":9007199254740993}')
  expect(JSON.parse(bodyOfOperation('a"', "likes", "Delete"))).toEqual({
    Documents: [{ DocumentId: 'a"', Operations: [{ Type: "Delete", CounterName: "likes" }] }],
  })
})

test("An increment is a whole number of 64 bits", () => {
  for (const good of ["1", "-5", "+3", "0", "9223372036854775807", "-9223372036854775808"]) expect(deltaProblem(good), good).toBeNull()
  for (const bad of ["", "1.5", "1e3", "x", "9223372036854775808", "-9223372036854775809"]) expect(deltaProblem(bad), bad).not.toBeNull()
})
