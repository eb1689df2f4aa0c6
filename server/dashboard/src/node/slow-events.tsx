import { bytes, milliseconds, moment } from "../shell/format"
import { Empty, ErrorSentence, Panel, Table, useAsked } from "../shell/parts"

interface Answer {
  Columns: string[]
  Rows: (string | number)[][]
}

const MostShown = 100
const RefreshSeconds = 15

const kindWords: Record<string, string> = {
  journal_write: "journal write",
  journal_sync: "journal sync",
  run_write: "run write",
  compaction: "compaction",
  index: "index",
  read: "read",
  manifest: "manifest",
  backup: "backup",
  scrub: "scrub",
  journal_spare: "spare segment",
}

/** Disk operations of 10 ms or more that were slower than 99.9 % of their kind, also of a node that is down. */
export function SlowEvents({ tag }: { tag: string }) {
  const { data, trouble, refresh } = useAsked<Answer>(`/dashboard/slow?node=${encodeURIComponent(tag)}`, RefreshSeconds)
  const rows = (data.value ? eventsOf(data.value) : []).sort((a, b) => b.start - a.start).slice(0, MostShown)
  return (
    <Panel title="Slow disk work" actions={<span class="quiet small">newest first</span>}>
      <ErrorSentence of={trouble.value} retry={refresh} />
      {data.value && (
        <div class="slow-events">
          <Table
            label="Slow disk work"
            rows={rows}
            keyOf={(event) => `${event.start} ${event.kind}`}
            empty={<Empty title="None.">No disk work took 10 ms or more and longer than 99.9 % of its kind.</Empty>}
            columns={[
              { title: "When", cell: (event) => <span class="number">{moment(event.start / 1000)}</span>, sort: (event) => event.start },
              { title: "What", cell: (event) => kindWords[event.kind] ?? event.kind, sort: (event) => event.kind },
              { title: "Took", end: true, cell: (event) => milliseconds(event.duration / 1000), sort: (event) => event.duration },
              {
                title: "Bytes",
                end: true,
                wideOnly: true,
                cell: (event) => (event.bytes > 0 ? bytes(event.bytes) : ""),
                sort: (event) => event.bytes,
              },
            ]}
          />
        </div>
      )}
    </Panel>
  )
}

function eventsOf({ Columns, Rows }: Answer) {
  const at = (name: string) => Columns.indexOf(name)
  const [kind, start, took, size] = [at("Kind"), at("StartUnixMicroseconds"), at("DurationMicroseconds"), at("Bytes")]
  return Rows.map((row) => ({
    kind: String(row[kind]),
    start: Number(row[start]),
    duration: Number(row[took]),
    bytes: Number(row[size] ?? 0),
  }))
}
