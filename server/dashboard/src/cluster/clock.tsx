import { useSignal } from "@preact/signals"
import { moment, offset } from "../shell/format"
import { live } from "../shell/live"
import { Button, Confirm, ErrorSentence, Panel, Table, Tag, toast, useAsked } from "../shell/parts"
import { ask } from "../shell/request"

interface Readiness {
  Cluster?: { Clock?: { Time: string | null; OwnAheadSeconds: number | null; Doubt: string | null; IsOwnSynchronised: boolean } }
}

const RefreshSeconds = 10

/** The cluster's time, by which documents and tokens expire, and whether it is in doubt. */
export function Clock() {
  const { data, trouble, refresh } = useAsked<Readiness>("/readyz?verbose", RefreshSeconds)
  const asks = useSignal(false)
  const clock = data.value?.Cluster?.Clock
  const nodes = live.value?.Nodes ?? []
  return (
    <Panel title="Time" actions={clock && <Tag tone={clock.Doubt ? "warning" : "good"}>{clock.Doubt ? "in doubt" : "sure"}</Tag>}>
      <ErrorSentence of={trouble.value} retry={refresh} />
      <div class="stack small">
        {clock && (
          <p>
            {clock.Time ? `For the cluster it is ${moment(clock.Time)}.` : "The cluster does not know what time it is."}{" "}
            {clock.Doubt ?? "Documents, tokens and certificates expire by it."}
          </p>
        )}
        <Table
          label="Clocks of the nodes"
          rows={nodes}
          keyOf={(node) => node.Tag}
          columns={[
            { title: "Node", cell: (node) => node.Name },
            { title: "Ahead by", end: true, cell: (node) => offset(node.Sample?.ClockAheadSeconds) },
            {
              title: "Follows a source of time",
              end: true,
              cell: (node) => (node.Sample?.IsClockSynchronised == null ? "unknown" : node.Sample.IsClockSynchronised ? "yes" : "no"),
            },
          ]}
        />
        {clock?.Doubt && (
          <Button
            onClick={() => {
              asks.value = true
            }}
          >
            The clocks are right
          </Button>
        )}
      </div>
      {asks.value && (
        <Confirm
          title="Are the clocks right?"
          verb="They are right"
          onConfirm={async () => {
            toast((await ask<{ Message: string }>("/admin/cluster/clock/confirm", { method: "POST" })).Message, { tone: "good" })
            await refresh()
          }}
          onClose={() => {
            asks.value = false
          }}
        >
          <p>
            The voters' clocks are taken for the cluster's time from then on, and what ended by it goes: documents with an{" "}
            <code>@expires</code> in the past are deleted. Compare them with your own clock first.
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
