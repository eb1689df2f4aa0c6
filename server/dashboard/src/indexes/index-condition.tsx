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

/** Says that another definition is built beside an index, or that it stopped on the way. */
export function ReplacementTag({ replacement }: { replacement: ListedIndex }) {
  return replacement.State === "Error" ? (
    <Tag tone="bad" title="The definition that was to take its place cannot take the documents. The old one goes on answering.">
      change stopped
    </Tag>
  ) : (
    <Tag tone="accent" title="Another definition is built beside it, and takes its place when it has caught up">
      being replaced
    </Tag>
  )
}

/** How far an index is that has documents left; nothing for one that has none. */
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
