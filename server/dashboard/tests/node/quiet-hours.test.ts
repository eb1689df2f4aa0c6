import { expect, test } from "vitest"
import { moved } from "../../src/node/quiet-hours"

test("A time of the day is moved over midnight in both directions", () => {
  expect(moved("22:00", -120)).toBe("20:00")
  expect(moved("00:30", -60)).toBe("23:30")
  expect(moved("23:30", 330)).toBe("05:00")
  expect(moved(moved("07:05", 570), -570)).toBe("07:05")
})
