import { useSignal } from "@preact/signals"
import { ago, count, milliseconds, room } from "../shell/format"
import { secondsSinceHeard } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Button, Empty, ErrorSentence, Menu, Panel, Table, Tag, useAsked } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { inCluster, isAlone } from "./alone"
import { Join } from "./join"
import type { Member, MemberChange, MemberList } from "./member"
import { ConfirmChange } from "./member-change"
import { Replace } from "./replace"
import { Topology } from "./topology"

const RefreshSeconds = 3

type Open = { what: "join" } | { what: "replace"; member: Member } | { what: MemberChange; member: Member } | null

/** The members with their lag, and the actions on them. */
export function Members() {
  const { data, trouble, refresh } = useAsked<MemberList>(inCluster("/admin/cluster/nodes"), RefreshSeconds)
  const open = useSignal<Open>(null)
  const list = data.value
  const close = () => {
    open.value = null
    void refresh()
  }
  if (isAlone() === null && !list) {
    return (
      <p class="quiet" role="status">
        Waiting for the state of this node …
      </p>
    )
  }

  if (isAlone()) {
    return (
      <Empty title="This node is alone.">
        <p>
          It is in no cluster. Stop it, make it the first member of a cluster with <code>rookery cluster init --data DIR</code>, and start
          it again.
        </p>
        <a href={manualHref("/help/how-to/cluster.md")}>How to make a cluster</a>
      </Empty>
    )
  }

  const now = open.value
  return (
    <>
      <ErrorSentence of={trouble.value} retry={refresh} />
      {list && (
        <>
          <Panel
            title="Members"
            stale={trouble.value !== null}
            actions={
              <Button
                kind="primary"
                onClick={() => {
                  open.value = { what: "join" }
                }}
              >
                Add a node
              </Button>
            }
          >
            <p class="note">{list.Note}</p>
            {list.Unreached && (
              <ul class="unreached">
                {list.Unreached.map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
            )}
            <Topology list={list} />
            <MemberTable
              list={list}
              onChoose={(what, member) => {
                open.value = { what, member }
              }}
            />
          </Panel>
        </>
      )}
      {now?.what === "join" && <Join onClose={close} />}
      {now?.what === "replace" && <Replace member={now.member} onClose={close} />}
      {now && now.what !== "join" && now.what !== "replace" && <ConfirmChange what={now.what} member={now.member} onClose={close} />}
    </>
  )
}

/**
 * Returns the seconds since a member was last heard: the live value, which the other pages show, or without the scope
 * `metrics` the value of the list.
 */
function heardOf(member: Member): number | null {
  return secondsSinceHeard(member.Tag) ?? member.HeardSeconds ?? null
}

function MemberTable({ list, onChoose }: { list: MemberList; onChoose: (what: MemberChange | "replace", member: Member) => void }) {
  return (
    <Table
      label="Members of the cluster"
      stacks
      rows={list.Members}
      keyOf={(member) => member.NodeId}
      columns={[
        {
          title: "Node",
          cell: (member) => (
            <>
              <a href={hrefOf("node", member.Tag)}>{member.Name}</a> <span class="quiet">{member.Tag}</span>
            </>
          ),
          sort: (member) => member.Name,
        },
        { title: "Part", cell: (member) => <Tag tone={member.Role === "leader" ? "accent" : "quiet"}>{member.Role}</Tag> },
        {
          title: "Answers",
          cell: (member) =>
            member.IsSelf ? (
              <Tag tone="good">this node</Tag>
            ) : member.IsReachable === undefined ? (
              <Tag>unknown</Tag>
            ) : (
              <Tag tone={member.IsReachable ? "good" : "bad"}>{member.IsReachable ? "yes" : "no"}</Tag>
            ),
        },
        {
          title: "Heard",
          wideOnly: true,
          end: true,
          cell: (member) => (member.IsSelf ? "" : ago(heardOf(member))),
          sort: heardOf,
        },
        {
          title: "Behind by",
          end: true,
          cell: (member) => (member.Role === "leader" ? "" : count(member.LagEntries)),
          sort: (member) => member.LagEntries ?? null,
        },
        {
          title: "Sync p99",
          end: true,
          cell: (member) => milliseconds(member.SyncP99Milliseconds),
          sort: (member) => member.SyncP99Milliseconds ?? null,
        },
        {
          title: "Room",
          wideOnly: true,
          end: true,
          cell: (member) => room(member.SpareBytes),
          sort: (member) => member.SpareBytes ?? null,
        },
        {
          title: "Actions",
          unseenTitle: true,
          end: true,
          cell: (member) => <MemberMenu member={member} hasOthers={list.Members.length > 1} onChoose={onChoose} />,
        },
      ]}
    />
  )
}

function MemberMenu({
  member,
  hasOthers,
  onChoose,
}: {
  member: Member
  hasOthers: boolean
  onChoose: (what: MemberChange | "replace", member: Member) => void
}) {
  const one = (what: MemberChange | "replace", title: string, danger = false) => ({ title, danger, onClick: () => onChoose(what, member) })
  // A member that does not answer cannot become leader or voter.
  const answers = member.IsReachable !== false
  return (
    <Menu
      label={`Actions on ${member.Name}`}
      actions={[
        member.Role === "voter" && answers && one("transfer", "Let it lead …"),
        member.Role === "learner" && answers && one("promote", "Let it vote …"),
        member.Role === "voter" && one("demote", "Demote …"),
        hasOthers && one("replace", "Replace …"),
        hasOthers && one("remove", "Remove …", true),
      ]}
    />
  )
}
