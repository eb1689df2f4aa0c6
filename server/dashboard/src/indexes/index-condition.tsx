import { Progress, Tag } from "../shell/parts"
import { conditionOf, type IndexStatistics, type ListedIndex } from "./index-state"

export function ConditionTag({ index }: { index: IndexStatistics }) {
  const { word, tone, means } = conditionOf(index)
  return (
    <Tag tone={tone} title={means}>
      {word}
    </Tag>
  )
}

/** Reports that a replacement of an index is being built, or that it has stopped. */
export function ReplacementTag({ replacement }: { replacement: ListedIndex }) {
  return replacement.State === "Error" ? (
    <Tag tone="bad" title="Too many documents failed with the changed definition. The old one still answers queries.">
      change stopped
    </Tag>
  ) : (
    <Tag tone="accent" title="A changed definition is being built, and replaces this one when it has caught up">
      being replaced
    </Tag>
  )
}

/** The progress of an index; nothing if it is up to date. */
export function IndexProgressBar({ index }: { index: ListedIndex }) {
  if (!index.IsStale || index.left === 0) return null
  const isWorking = index.Status === "Running" && index.State === "Normal"
  return (
    <Progress
      label={index.Name.startsWith("ReplacementOf/") ? "The new one" : "Indexed"}
      done={index.total - index.left}
      total={index.total}
      unit="documents"
      perSecond={isWorking ? index.perSecond : null}
      secondsLeft={isWorking ? index.secondsLeft : null}
    />
  )
}
