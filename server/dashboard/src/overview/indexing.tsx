import { useRef } from "preact/hooks"
import { count } from "../shell/format"
import type { LiveIndex } from "../shell/live"
import { Panel } from "../shell/panel"
import { Progress } from "../shell/progress"
import { hrefOf } from "../shell/route"
import { Tag } from "../shell/tag"

/** Indexes that lag, with the remaining documents, and indexes with errors. */
export function Indexing({ indexes }: { indexes: readonly LiveIndex[] }) {
  const behind = indexes.filter((index) => index.IsStale)
  const wrong = indexes.filter((index) => index.Errors > 0 || !["Normal", "Running"].includes(index.State))
  if (indexes.length === 0) return null
  return (
    <Panel title="Indexes" actions={<span class="quiet small number">{count(indexes.length)} in all</span>}>
      {behind.length === 0 && <p class="quiet small">All of them follow the documents.</p>}
      <div class="columns">
        {behind.map((index) => (
          <Behind key={`${index.Database} ${index.Name}`} index={index} />
        ))}
      </div>
      {wrong.length > 0 && (
        <ul class="wrong-indexes">
          {wrong.map((index) => (
            <li key={`${index.Database} ${index.Name}`}>
              <a href={hrefOf("indexes", index.Database)}>
                {index.Database} / {index.Name}
              </a>{" "}
              {index.Errors > 0 && <Tag tone="warning">{count(index.Errors)} documents not taken</Tag>}{" "}
              {!["Normal", "Running"].includes(index.State) && (
                <Tag tone={index.State === "Error" ? "bad" : "quiet"}>{index.State.toLowerCase()}</Tag>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Behind({ index }: { index: LiveIndex }) {
  // The progress bar's total: the number of remaining documents when this page first saw the index.
  const most = useRef(0)
  const left = index.DocumentsLeft
  if (left !== null) most.current = Math.max(most.current, left)
  return (
    <Progress
      label={`${index.Database} / ${index.Name}`}
      done={left === null ? 0 : most.current - left}
      total={left === null ? null : most.current}
      unit="documents"
      {...(index.SecondsLeft === null ? {} : { secondsLeft: index.SecondsLeft })}
    />
  )
}
