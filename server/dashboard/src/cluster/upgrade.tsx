import { useSignal } from "@preact/signals"
import { live } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Button, Confirm, ErrorSentence, Panel, Table, Tag, toast, useAsked } from "../shell/parts"
import { ask } from "../shell/request"

interface Levels {
  Level: number
  Members: { Tag: string; Name: string; NewestLevel: number | null }[]
}

/** The members' versions, the format level on disk, and the last step of an upgrade, which cannot be undone. */
export function Upgrade() {
  const { data, trouble, refresh } = useAsked<Levels>("/admin/cluster/upgrade", 30)
  const asks = useSignal(false)
  const levels = data.value
  const nodes = live.value?.Nodes ?? []
  const versions = new Set(nodes.map((node) => node.Sample?.Version ?? "unknown"))
  // Only those of machines with the image. A cluster may also have machines without it.
  const images = new Set(nodes.flatMap((node) => node.Sample?.ImageRelease ?? []))
  const isMixed = versions.size > 1 || images.size > 1
  const newest = levels ? Math.max(levels.Level, ...levels.Members.map((member) => member.NewestLevel ?? 0)) : null
  const isUnder = levels !== undefined && newest !== null && newest > levels.Level
  const isEven = levels?.Members.every((member) => member.NewestLevel === newest) ?? false
  return (
    <Panel
      title="Upgrade"
      actions={levels && <Tag tone={isUnder || isMixed ? "warning" : "good"}>{isUnder || isMixed ? "not ended" : "complete"}</Tag>}
    >
      <ErrorSentence of={trouble.value} retry={refresh} />
      <div class="stack small">
        {levels && (
          <p>
            Everything is written at format level {levels.Level}.{" "}
            {isUnder
              ? isEven
                ? `All members know level ${newest}: until you end the upgrade, the previous version can be installed again.`
                : `Some members know level ${newest} already: upgrade the others first.`
              : "This is the newest level that the members know."}
          </p>
        )}
        <Table
          label="Versions of the nodes"
          rows={nodes}
          keyOf={(node) => node.Tag}
          columns={[
            { title: "Node", cell: (node) => node.Name },
            { title: "Version", cell: (node) => node.Sample?.Version ?? "unknown" },
            ...(images.size > 0 ? [{ title: "Image", cell: (node: (typeof nodes)[number]) => node.Sample?.ImageRelease ?? "none" }] : []),
            {
              title: "Knows level",
              end: true,
              cell: (node) => levels?.Members.find((member) => member.Tag === node.Tag)?.NewestLevel ?? "unknown",
            },
          ]}
        />
        <div class="actions">
          {isUnder && (
            <Button
              kind="danger"
              disabled={!isEven}
              onClick={() => {
                asks.value = true
              }}
            >
              End the upgrade
            </Button>
          )}
          <a href={manualHref("/help/how-to/upgrade.md")}>How to upgrade</a>
        </div>
      </div>
      {asks.value && (
        <Confirm
          title={`Write at level ${newest} from now on?`}
          verb="End the upgrade"
          danger
          onConfirm={async () => {
            toast((await ask<{ Message: string }>("/admin/cluster/finalize-upgrade", { method: "POST" })).Message, { tone: "good" })
            await refresh()
          }}
          onClose={() => {
            asks.value = false
          }}
        >
          <p>Afterwards the previous version cannot be installed again, because it does not start on these data.</p>
        </Confirm>
      )}
    </Panel>
  )
}
