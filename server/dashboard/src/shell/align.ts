/** The answer of /dashboard/history for one node. */
export interface Answer {
  Node: string
  SpanSeconds: number
  LastSeen: string | null
  IsObserved: boolean
  Columns: string[]
  Rows: (number | null)[][]
}

/** Figures of several nodes in columns of equal length, by `TAG Figure`. */
export interface Table {
  from: number
  span: number
  /** Length of the shown time, in seconds. */
  seconds: number
  columns: Map<string, (number | null)[]>
  seen: Map<string, Date | null>
  count: number
}

/**
 * Aligns the histories of nodes to common times. Nodes sample at different moments, so rows of about the same time are
 * joined.
 */
export function align(answers: Answer[], from: number, to: number, seconds: number): Table {
  const span = Math.max(10, ...answers.map((answer) => answer.SpanSeconds))
  const count = Math.max(1, Math.floor((to - from) / span) + 1)
  const table: Table = { from, span, seconds, columns: new Map(), seen: new Map(), count }
  for (const answer of answers) {
    const time = answer.Columns.indexOf("UnixSecond")
    table.seen.set(answer.Node, answer.LastSeen ? new Date(answer.LastSeen) : null)
    answer.Columns.forEach((name, at) => {
      if (at === time) return
      const values = new Array<number | null>(count).fill(null)
      for (const row of answer.Rows) {
        const slot = Math.floor(((row[time] ?? 0) - from) / span)
        if (slot >= 0 && slot < count) values[slot] = row[at] ?? null
      }
      bridge(values)
      table.columns.set(`${answer.Node} ${name}`, values)
    })
  }

  return table
}

/**
 * Whether a time is so far after the table's that no shown value would be left of it: a cluster without clocks jumps by
 * years when it learns the time, and each slot in between would be filled.
 */
export function isBeyond(table: Table, time: number): boolean {
  return (time - table.from) / table.span - table.count > Math.ceil(table.seconds / table.span)
}

/** Fills gaps of one value: a single missed sample is no outage. */
export function bridge(values: (number | null)[]): void {
  for (let at = 1; at < values.length - 1; at++) {
    if (values[at] === null && values[at - 1] !== null && values[at + 1] !== null) values[at] = values[at - 1] ?? null
  }
}
