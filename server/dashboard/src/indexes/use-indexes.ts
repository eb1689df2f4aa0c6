import { readOf } from "../documents/store"
import { useAsked } from "../shell/parts"
import { type IndexProgress, type IndexStatistics, type ListedIndex, listOf } from "./index-state"

const EverySeconds = 2

/** Reads the state of a database's indexes on this node every two seconds. */
export function useIndexes(database: string): { indexes: ListedIndex[] | null; trouble: unknown; refresh: () => Promise<void> } {
  const statistics = useAsked<{ Results: IndexStatistics[] }>(readOf(database, "indexes/stats"), EverySeconds)
  const progress = useAsked<{ Results: IndexProgress[] }>(readOf(database, "indexes/progress"), EverySeconds)
  const { value } = statistics.data
  return {
    indexes: value ? listOf(value.Results, progress.data.value?.Results ?? []) : null,
    trouble: statistics.trouble.value,
    refresh: async () => {
      await Promise.all([statistics.refresh(), progress.refresh()])
    },
  }
}
