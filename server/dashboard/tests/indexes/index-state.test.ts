import { expect, test } from "vitest"
import { fieldNamesOf, Templates } from "../../src/indexes/definition"
import { conditionOf, errorsOf, type IndexStatistics, listOf } from "../../src/indexes/index-state"

const statistics = (Name: string, part: Partial<IndexStatistics> = {}): IndexStatistics => ({
  Name,
  IsStale: false,
  State: "Normal",
  LockMode: "Unlock",
  Priority: "Normal",
  Type: "Map",
  LastIndexingTime: null,
  Status: "Running",
  Trouble: null,
  EntriesCount: 1,
  ErrorsCount: 0,
  ...part,
})

test("A replacement that is being built is shown with the index that it replaces", () => {
  const progress = {
    Name: "ReplacementOf/A",
    IsStale: true,
    ProcessedPerSecond: 9,
    SecondsLeft: 3,
    Collections: {
      Users: { NumberOfItemsToProcess: 5, TotalNumberOfItems: 20 },
      Orders: { NumberOfItemsToProcess: 5, TotalNumberOfItems: 20 },
    },
  }
  const list = listOf([statistics("A"), statistics("B"), statistics("ReplacementOf/A", { IsStale: true })], [progress])
  expect(list.map((index) => [index.Name, index.replacement?.Name ?? null])).toEqual([
    ["A", "ReplacementOf/A"],
    ["B", null],
  ])
  expect(list[0]?.replacement).toMatchObject({ left: 5, total: 20, perSecond: 9, secondsLeft: 3 })
})

test("The worst condition of an index is shown", () => {
  expect(conditionOf(statistics("A")).word).toBe("up to date")
  expect(conditionOf(statistics("A", { IsStale: true })).word).toBe("catching up")
  expect(conditionOf(statistics("A", { IsStale: true, Status: "Paused" })).word).toBe("paused")
  expect(conditionOf(statistics("A", { State: "Disabled", Status: "Disabled" })).word).toBe("disabled")
  expect(conditionOf(statistics("A", { State: "Error", Status: "Paused" })).word).toBe("stopped")
})

test("Field names come from the text of a map, and for an automatic index from its list of fields", () => {
  const names = Templates.map((template) => fieldNamesOf(template.make("Users")))
  expect(names).toEqual([["name"], ["name"], ["product", "quantity"], ["text"], ["key", "count", "total"]])
  expect(
    fieldNamesOf({
      Name: "Auto/A/ByB",
      Type: "AutoMap",
      Maps: ["A:[<Name:b>]"],
      Reduce: null,
      Fields: { b: { Indexing: "Default", Storage: "No", Analyzer: null, Suggestions: false } },
      Configuration: {},
    }),
  ).toEqual(["b"])
})

test("The errors of a replacement are counted with its index", () => {
  const [index] = listOf([statistics("A", { ErrorsCount: 1 }), statistics("ReplacementOf/A", { ErrorsCount: 100 })], [])
  expect(index && errorsOf(index)).toBe(101)
})
