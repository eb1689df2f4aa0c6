import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { groupsOf, Titles, titleOfAlert } from "../../src/node/alert-groups"
import type { Alert } from "../../src/shell/live"

const alert = (Name: string, Node: string, Since: string, Severity: Alert["Severity"] = "warning"): Alert => ({
  Name,
  Node,
  Since,
  Severity,
  Sentence: "",
  Fix: "",
  Help: "",
  Member: null,
})

test("Alerts are grouped by name, critical groups first, then those that have lasted longest", () => {
  const groups = groupsOf([
    alert("hot", "A", "2026-11-02"),
    alert("sync_slow", "B", "2026-11-01"),
    alert("hot", "C", "2026-11-01T12"),
    alert("disk_full", "B", "2026-11-03", "critical"),
  ])
  expect(groups.map(({ name, alerts }) => `${name} ${alerts.map(({ Node }) => Node).join()}`)).toEqual([
    "disk_full B",
    "sync_slow B",
    "hot C,A",
  ])
})

test("An alert that this dashboard does not know gets its title from its name", () => {
  expect([titleOfAlert("disk_full"), titleOfAlert("moon_is_full")]).toEqual(["A card is full", "Moon is full"])
})

test("Every alert of the manual has a title", () => {
  const manual = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "../../../../docs/reference/alerts.md"), "utf8")
  const names = [...manual.matchAll(/^#+ `?([a-z]+(?:_[a-z]+)+|damage|halted|throttled|hot)`?$/gm)].map(([, name]) => String(name))
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !(name in Titles))).toEqual([])
})
