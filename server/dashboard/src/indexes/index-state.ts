import type { Tone } from "../shell/parts"

/** An element of `GET indexes/stats`. */
export interface IndexStatistics {
  Name: string
  IsStale: boolean
  State: "Normal" | "Disabled" | "Error"
  LockMode: "Unlock" | "LockedIgnore" | "LockedError"
  Priority: "Normal" | "Low" | "High"
  Type: string
  LastIndexingTime: string | null
  Status: "Running" | "Paused" | "Disabled" | "Pending"
  Trouble: string | null
  EntriesCount: number
  ErrorsCount: number
}

/** An element of `GET indexes/progress`. */
export interface IndexProgress {
  Name: string
  IsStale: boolean
  ProcessedPerSecond: number
  SecondsLeft: number | null
  Collections: Record<string, { NumberOfItemsToProcess: number; TotalNumberOfItems: number }>
}

export interface ListedIndex extends IndexStatistics {
  left: number
  total: number
  perSecond: number
  secondsLeft: number | null
  /** The index that is being built to replace this one. */
  replacement: ListedIndex | null
}

const ReplacementPrefix = "ReplacementOf/"

/**
 * Joins the statistics and the progress of a node's indexes. Assigns a replacement to the index that it will replace.
 */
export function listOf(statistics: readonly IndexStatistics[], progress: readonly IndexProgress[]): ListedIndex[] {
  const joined = statistics.map((index): ListedIndex => {
    const at = progress.find((other) => other.Name === index.Name)
    const collections = Object.values(at?.Collections ?? {})
    // All collections of an index have the same figures, which are those of the whole index.
    return {
      ...index,
      left: Math.max(0, ...collections.map((collection) => collection.NumberOfItemsToProcess)),
      total: Math.max(0, ...collections.map((collection) => collection.TotalNumberOfItems)),
      perSecond: at?.ProcessedPerSecond ?? 0,
      secondsLeft: at?.SecondsLeft ?? null,
      replacement: null,
    }
  })
  const replacements = joined.filter((index) => index.Name.startsWith(ReplacementPrefix))
  return joined
    .filter((index) => !index.Name.startsWith(ReplacementPrefix))
    .map((index) => ({ ...index, replacement: replacements.find((other) => other.Name === ReplacementPrefix + index.Name) ?? null }))
}

/** Returns how many documents the index or its replacement could not index. */
export function errorsOf(index: ListedIndex): number {
  return index.ErrorsCount + (index.replacement?.ErrorsCount ?? 0)
}

/** Describes the state of an index in a word, with an explanation. */
export function conditionOf(index: IndexStatistics): { word: string; tone: Tone; means: string } {
  if (index.State === "Error")
    return { word: "stopped", tone: "bad", means: "Too many documents failed. Look at the errors, correct the definition, or reset it." }
  if (index.State === "Disabled") return { word: "disabled", tone: "quiet", means: "Switched off on all members; queries do not use it." }
  if (index.Status === "Paused")
    return { word: "paused", tone: "warning", means: "This node does not update it until it is resumed, or the node restarts." }
  if (index.Status === "Pending") return { word: "waiting", tone: "quiet", means: "This node has not begun to build it yet." }
  return index.IsStale
    ? { word: "catching up", tone: "accent", means: "It has not processed all documents yet." }
    : { word: "up to date", tone: "good", means: "It has processed all documents." }
}

/** Describes the kind of an index in plain words. */
export function kindOf(type: string): string {
  const Kinds: Record<string, string> = {
    AutoMap: "made by queries",
    Map: "map, C#",
    MapReduce: "map/reduce, C#",
    JavaScriptMap: "map, JavaScript",
    JavaScriptMapReduce: "map/reduce, JavaScript",
  }
  return Kinds[type] ?? "of another version"
}
