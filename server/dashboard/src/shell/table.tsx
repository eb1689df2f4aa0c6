import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"

export interface Column<Row> {
  title: string
  cell: (row: Row) => ComponentChildren
  /** The sort key of a row. If set, a click on the title sorts by it. */
  sort?: (row: Row) => string | number | null
  /** If set, a click on the title chooses another order of all rows, of which these are a page. */
  order?: { chosen: "ascending" | "descending" | null; onChoose: () => void }
  /** Whether the cells are numbers, which are right-aligned. */
  end?: boolean
  /** Whether the column is hidden on a phone. */
  wideOnly?: boolean
  /** Whether the title is for screen readers only, as for a column of buttons. */
  unseenTitle?: boolean
}

interface TableProps<Row> {
  /** Label for screen readers. */
  label: string
  columns: Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  /** Shown if there are no rows. */
  empty?: ComponentChildren
  rowClass?: (row: Row) => string
  /** On a phone each row becomes a card, instead of a table that scrolls sideways. */
  stacks?: boolean
}

/** A table with titled columns. It scrolls sideways if it is too wide. */
export function Table<Row>({ label, columns, rows, keyOf, empty, rowClass, stacks = false }: TableProps<Row>) {
  const order = useSignal<{ column: number; descending: boolean } | null>(null)
  if (rows.length === 0 && empty) return <>{empty}</>
  const by = order.value && columns[order.value.column]?.sort
  const shown = by ? sorted(rows, by, order.value?.descending ?? false) : rows
  const classOf = (column: Column<Row>) => `${column.end ? "end" : ""} ${column.wideOnly ? "wide-only" : ""}`
  return (
    // Focusable, so that the table can be scrolled by keyboard.
    <div class="table-frame" role="group" aria-label={label} tabIndex={0}>
      {/* Explicit roles, because the CSS display of stacked rows removes the implicit ones. */}
      <table class={`table ${stacks ? "stacks" : ""}`} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, at) => {
              const mine = order.value?.column === at ? order.value : null
              const direction = column.order ? column.order.chosen : mine && (mine.descending ? "descending" : "ascending")
              const choose = () => {
                if (column.order) column.order.onChoose()
                else order.value = { column: at, descending: mine ? !mine.descending : false }
              }
              return (
                <th
                  key={column.title}
                  scope="col"
                  role="columnheader"
                  class={classOf(column)}
                  {...(direction ? { "aria-sort": direction } : {})}
                >
                  {column.sort || column.order ? (
                    <button type="button" onClick={choose}>
                      {column.title}
                      {direction ? (direction === "descending" ? " ↓" : " ↑") : ""}
                    </button>
                  ) : (
                    <span class={column.unseenTitle ? "unseen" : ""}>{column.title}</span>
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => (
            <tr key={keyOf(row)} role="row" class={rowClass?.(row) ?? ""}>
              {columns.map((column) => (
                <td key={column.title} role="cell" class={classOf(column)} data-title={column.unseenTitle ? "" : column.title}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Sorts rows. Unknown values are last in both directions. */
function sorted<Row>(rows: readonly Row[], by: (row: Row) => string | number | null, descending: boolean): Row[] {
  return [...rows].sort((left, right) => {
    const a = by(left)
    const b = by(right)
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
    const less = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b)
    return descending ? -less : less
  })
}
