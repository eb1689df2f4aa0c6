import { expect, test } from "vitest"
import { answerOf, bodyOf, isSameQuery } from "../../src/query/ask-query"

test("Parameters are sent as they were typed, with all digits", () => {
  expect(bodyOf({ text: 'from A where b = "c"', parameters: '{"n": 12345678901234567890.50}', start: 0, pageSize: 50 })).toBe(
    '{"Query":"from A where b = \\"c\\"","QueryParameters":{"n": 12345678901234567890.50},"Start":0,"PageSize":50}',
  )
  expect(JSON.parse(bodyOf({ text: "from A", parameters: " ", waitSeconds: 15 }))).toEqual({
    Query: "from A",
    WaitForNonStaleResults: true,
    WaitForNonStaleResultsTimeout: 15_000,
  })
})

test("Timings are requested by an option, without a change of the query's text", () => {
  expect(JSON.parse(bodyOf({ text: "from A where", parameters: "", timings: true }))).toEqual({
    Query: "from A where",
    IncludeTimings: true,
  })
})

test("Requests with the same text and parameters are the same query, whatever page they ask for", () => {
  const query = { text: "from A", parameters: '{"n":1}' }
  expect(isSameQuery(query, { ...query, start: 50, timings: true })).toBe(true)
  expect(isSameQuery(query, { ...query, text: "from B" })).toBe(false)
  expect(isSameQuery(query, { ...query, parameters: '{"n":2}' })).toBe(false)
})

test("An answer is parsed, and its results keep their text", () => {
  const text =
    '{"Results":[{"n":1.0,"@metadata":{"@id":"a/1"}}],"Includes":{"c/1":{"x":1}},"TotalResults":7,"DurationInMs":3,"IndexName":"Auto/A/ByN","IsStale":true,"NodeTag":"A","Timings":{"DurationInMs":3,"Timings":{"Parser":{"DurationInMs":1,"Timings":null},"Query":{"DurationInMs":2,"Timings":null}}}}'
  const answer = answerOf(text)
  expect(answer).toMatchObject({ total: 7, index: "Auto/A/ByN", isStale: true, included: ["c/1"], serverMilliseconds: 3 })
  expect(answer.timings).toEqual([
    { part: "Parser", milliseconds: 1 },
    { part: "Query", milliseconds: 2 },
  ])
  const [result] = answer.results
  expect(result && text.slice(result.start, result.end)).toBe('{"n":1.0,"@metadata":{"@id":"a/1"}}')
})
