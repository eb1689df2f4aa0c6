import { ago, count } from "../shell/format"
import { Button } from "../shell/parts"
import type { PastQuery } from "./history"

/** The queries that this browser has run, newest first. */
export function HistoryList({
  queries,
  onChoose,
  onForget,
}: {
  queries: PastQuery[]
  onChoose: (query: PastQuery) => void
  onForget: () => void
}) {
  if (queries.length === 0) return null
  return (
    <details class="fold">
      <summary>Run before in this browser ({queries.length})</summary>
      <ul class="history">
        {queries.map((query) => (
          <li key={`${query.at} ${query.text}`}>
            <button type="button" onClick={() => onChoose(query)}>
              <code>{query.text}</code>
              <span class="quiet">
                {ago((Date.now() - query.at) / 1000)}
                {query.total === null ? "" : `, ${count(query.total)} results`}
                {query.index ? `, ${query.index}` : ""}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Button kind="plain" onClick={onForget}>
        Forget them
      </Button>
    </details>
  )
}
