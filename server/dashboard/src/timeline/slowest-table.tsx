import type { Signal } from "@preact/signals"
import { bytes } from "../shell/format"
import { Button, Empty, Panel, Table } from "../shell/parts"
import type { FoundEvent } from "./found"
import { kinds } from "./kinds"
import { durationText, speedText, timeText } from "./text"

export interface SlowestRow extends FoundEvent {
  node: string
  /** Number of the track. A file may be of the same node as another track. */
  place: number
  show: () => void
}

/** The longest events of the view, as text. */
export function SlowestTable({ rows }: { rows: Signal<readonly SlowestRow[]> }) {
  return (
    <Panel title="Slowest in view">
      <Table
        label="The slowest events in view"
        rows={rows.value}
        keyOf={(row) => `${row.place} ${row.kind} ${row.start} ${row.duration}`}
        empty={
          <Empty title="No single events are known here.">
            Of older hours the node keeps only slow events, and sums of seconds and minutes.
          </Empty>
        }
        columns={[
          { title: "Took", cell: (row) => durationText(row.duration), end: true },
          { title: "What", cell: (row) => kinds[row.kind]?.title },
          { title: "Node", cell: (row) => row.node },
          { title: "Start", cell: (row) => <span class="io-figures">{timeText(row.start, 1000)}</span> },
          {
            title: "Bytes",
            cell: (row) => (row.bytes > 0 ? bytes(row.bytes) : row.isSync ? "unknown" : "0 B"),
            end: true,
            wideOnly: true,
          },
          { title: "Speed", cell: (row) => (row.bytes > 0 ? speedText(row.bytes, row.duration) : ""), end: true, wideOnly: true },
          {
            title: "Show",
            unseenTitle: true,
            cell: (row) => (
              <Button kind="plain" label={`Show the ${kinds[row.kind]?.title ?? ""} of ${durationText(row.duration)}`} onClick={row.show}>
                Show
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  )
}
