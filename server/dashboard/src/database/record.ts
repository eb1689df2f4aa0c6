import { readsAreLocal } from "../documents/store"

/** Which revisions a collection keeps. */
export interface RevisionRule {
  Disabled: boolean
  MinimumRevisionsToKeep: number | null
  /** As `14.00:00:00` for 14 days. */
  MinimumRevisionAgeToKeep: string | null
  PurgeOnDelete: boolean
  MaximumRevisionsToDeleteUponDocumentUpdate: number | null
}

export interface RevisionsConfiguration {
  Default: RevisionRule | null
  Collections: Record<string, RevisionRule>
}

/** How often, and how many at a time, documents are deleted, refreshed or archived at their time. */
export type Schedule = { Disabled: boolean; MaxItemsToProcess?: number | null } & Record<string, unknown>

/** The record of a database, as far as its page shows it. A member without a configuration is absent. */
export interface DatabaseRecord {
  Revisions?: RevisionsConfiguration
  Expiration?: Schedule
  Refresh?: Schedule
  DataArchival?: Schedule
}

export function recordPath(database: string): string {
  return `/admin/databases?${new URLSearchParams({ name: database, ...(readsAreLocal() ? { consistency: "local" } : {}) })}`
}

export const AgeUnits = [
  { name: "days", seconds: 86_400 },
  { name: "hours", seconds: 3600 },
  { name: "minutes", seconds: 60 },
  { name: "seconds", seconds: 1 },
] as const

export type AgeUnit = (typeof AgeUnits)[number]["name"]

/** Reads a duration of .NET: `14.00:00:00` is 14 days. Returns the largest unit that has no rest; null for another form. */
export function ageOf(text: string): { count: number; unit: AgeUnit } | null {
  const found = /^(?:(\d+)\.)?(\d+):(\d+):(\d+)(?:\.0+)?$/.exec(text)
  if (found === null) return null
  const [, days = "0", hours = "0", minutes = "0", seconds = "0"] = found
  const all = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  const unit = AgeUnits.find((one) => all > 0 && all % one.seconds === 0) ?? AgeUnits[3]
  return { count: all / unit.seconds, unit: unit.name }
}

/** Writes a duration as .NET reads it. */
export function ageText(count: number, unit: AgeUnit): string {
  const all = count * (AgeUnits.find((one) => one.name === unit)?.seconds ?? 1)
  const two = (value: number) => `${value}`.padStart(2, "0")
  return `${Math.floor(all / 86_400)}.${two(Math.floor(all / 3600) % 24)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`
}

/** Says which revisions a rule keeps. */
export function keptBy(rule: RevisionRule): string {
  if (rule.Disabled) return "no new revisions"
  const age = rule.MinimumRevisionAgeToKeep === null ? null : ageOf(rule.MinimumRevisionAgeToKeep)
  const young =
    rule.MinimumRevisionAgeToKeep === null
      ? null
      : `all of the last ${age === null ? rule.MinimumRevisionAgeToKeep : `${age.count} ${age.count === 1 ? age.unit.slice(0, -1) : age.unit}`}`
  const newest = rule.MinimumRevisionsToKeep === null ? null : `the newest ${rule.MinimumRevisionsToKeep}`
  return newest === null && young === null ? "all" : [newest, young].filter((part) => part !== null).join(", and ")
}

/** Reads a whole number of a field; null for an empty text, undefined for anything else. */
export function wholeNumber(text: string, most = 2_147_483_647): number | null | undefined {
  const trimmed = text.trim()
  if (trimmed === "") return null
  return /^\d+$/.test(trimmed) && Number(trimmed) <= most ? Number(trimmed) : undefined
}
