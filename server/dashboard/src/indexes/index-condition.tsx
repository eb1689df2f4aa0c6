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
