import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { count } from "../shell/format"
import { type Column, Table } from "../shell/parts"
import { hrefOf } from "../shell/route"
import type { QueryAnswer } from "./ask-query"
import { type Cell, columnsOf, type ResultRow, rowsOf } from "./results"

const ColumnsAtFirst = 7
const LongestShown = 160
const LongestHint = 1000

/** A page of results as a table. The columns can be selected, and a click on a title sorts the page. */
export function ResultsTable({ database, answer }: { database: string; answer: QueryAnswer }) {
  const rows = useMemo(() => rowsOf(answer.text, answer.results), [answer])
  const all = useMemo(() => columnsOf(rows), [rows])
  const picked = useSignal<ReadonlySet<string> | null>(null)
  const shown = all.filter((name, at) => picked.value?.has(name) ?? at < ColumnsAtFirst)
  const toggle = (name: string, isShown: boolean) => {
    const next = new Set(shown)
    if (isShown) next.add(name)
    else next.delete(name)
    picked.value = next
  }

  const columns: Column<ResultRow & { at: number }>[] = [
    ...(rows.some((row) => row.id !== null)
      ? [
          {
            title: "Id",
            cell: (row: ResultRow) => (row.id === null ? "" : <a href={hrefOf("document", database, row.id)}>{row.id}</a>),
            sort: (row: ResultRow) => row.id,
          },
        ]
      : []),
    ...shown.map((name) => ({
      title: name,
      cell: (row: ResultRow) => <CellText cell={row.cells.get(name)} database={database} />,
      sort: (row: ResultRow) => row.cells.get(name)?.order ?? null,
      end: rows.some((row) => row.cells.get(name)?.kind === "number"),
    })),
  ]
  return (
    <>
      {all.length > 1 && (
        <details class="fold">
          <summary>
            Columns ({count(shown.length)} of {count(all.length)})
          </summary>
          <div class="column-choice">
            {all.map((name) => (
              <label key={name} class="tick">
                <input type="checkbox" checked={shown.includes(name)} onChange={(event) => toggle(name, event.currentTarget.checked)} />
                {name}
              </label>
            ))}
          </div>
        </details>
      )}
      <div class="results">
        <Table label="Results" columns={columns} rows={rows.map((row, at) => ({ ...row, at }))} keyOf={(row) => row.at} />
      </div>
    </>
  )
}

function CellText({ cell, database }: { cell: Cell | undefined; database: string }) {
  if (!cell) return <span class="quiet">–</span>
  if (cell.link) return <a href={hrefOf("document", database, cell.link)}>{cell.text}</a>
  if (cell.kind === "null") return <span class="quiet">null</span>
  const isLong = cell.text.length > LongestShown
  const hint = cell.text.length > 24 ? { title: cell.text.slice(0, LongestHint) } : {}
  const text = isLong ? `${cell.text.slice(0, LongestShown)}…` : cell.text
  return cell.kind === "object" || cell.kind === "array" ? (
    <code class="quiet" {...hint}>
      {text}
    </code>
  ) : (
    <span {...hint}>{text}</span>
  )
}
