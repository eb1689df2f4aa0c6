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
            {clock.Time ? `The cluster's time is ${moment(clock.Time)}.` : "The cluster does not know the time."}{" "}
            {clock.Doubt ?? "Documents, tokens and certificates expire by this time."}
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
              title: "Synchronised",
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
            From then on the voters' clocks are the cluster's time, and documents whose <code>@expires</code> is in the past are deleted.
            First compare the voters' clocks with your own.
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
