import { useSignal } from "@preact/signals"
import { pathOf, readOf } from "../documents/store"
import { count, moment } from "../shell/format"
import { live } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Confirm, Empty, ErrorSentence, Menu, Panel, sentenceOf, Table, Tag, toast, useAsked } from "../shell/parts"
import { ask, send } from "../shell/request"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { progressOf } from "./subscription-progress"

interface Subscription {
  SubscriptionId: number
  SubscriptionName: string
  Query: string
  ChangeVectorForNextBatchStartingPoint: string | null
  LastBatchAckTime: string | null
  LastClientConnectionTime: string | null
  Disabled: boolean
  MentorNode: string | null
  PinToMentorNode: boolean
  NodeTag: string | null
}

/** As many as a database can have. */
const MostSubscriptions = 256
const EverySeconds = 5

/** The subscriptions of a database: how far their workers are, and the actions on them. */
export function Subscriptions({ database }: { database: string }) {
  const { data, trouble, refresh } = useAsked<{ Results: Subscription[] }>(
    readOf(database, "subscriptions", { start: 0, pageSize: MostSubscriptions }),
    EverySeconds,
  )
  const rows = data.value?.Results
  const statistics = useAsked<{ LastDocEtag: number }>(rows && rows.length > 0 ? readOf(database, "stats") : null, EverySeconds)
  const asking = useSignal<{ action: "again" | "delete"; subscription: Subscription } | null>(null)
  const newest = statistics.data.value?.LastDocEtag ?? null
  const mayWrite = may("write", database)
  const run = async (path: string, done: string) => {
    try {
      await send(path, { method: "POST" })
      toast(done, { tone: "good" })
    } catch (failure) {
      toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
    }

    await refresh()
  }
  const nameOfNode = (tag: string) => live.value?.Nodes.find((node) => node.Tag === tag)?.Name || tag
  return (
    <Panel
      title="Subscriptions"
      stale={trouble.value !== null}
      actions={<a href={manualHref("/help/how-to/subscriptions.md")}>How they work</a>}
    >
      <ErrorSentence of={trouble.value} retry={refresh} />
      {rows && (
        <Table
          label="Subscriptions"
          stacks
          rows={rows}
          keyOf={(row) => row.SubscriptionId}
          empty={<Empty title="There is no subscription.">A program creates one, and a worker of yours processes its documents.</Empty>}
          columns={[
            {
              title: "Name",
              sort: (row) => row.SubscriptionName,
              cell: (row) => (
                <span class="subscription-name">
                  <strong>{row.SubscriptionName}</strong>
                  <code>{row.Query}</code>
                </span>
              ),
            },
            {
              title: "State",
              sort: (row) => (row.Disabled ? 1 : 0),
              cell: (row) => (
                <span>
                  <Tag tone={row.Disabled ? "quiet" : "good"}>{row.Disabled ? "disabled" : "enabled"}</Tag>
                </span>
              ),
            },
            {
              title: "Acknowledged",
              cell: (row) => {
                const { text, isDone } = progressOf(row.ChangeVectorForNextBatchStartingPoint, newest)
                return <span class={isDone ? "good" : ""}>{text}</span>
              },
            },
            {
              title: "Last batch",
              end: true,
              sort: (row) => (row.LastBatchAckTime ? Date.parse(row.LastBatchAckTime) : null),
              cell: (row) => (row.LastBatchAckTime ? <time>{moment(row.LastBatchAckTime)}</time> : <span class="quiet">none</span>),
            },
            {
              title: "Worker connected",
              end: true,
              sort: (row) => (row.LastClientConnectionTime ? Date.parse(row.LastClientConnectionTime) : null),
              cell: (row) =>
                row.LastClientConnectionTime ? <time>{moment(row.LastClientConnectionTime)}</time> : <span class="quiet">never</span>,
            },
            {
              title: "Served by",
              end: true,
              cell: (row) =>
                row.NodeTag ? <a href={hrefOf("node", row.NodeTag)}>{nameOfNode(row.NodeTag)}</a> : <span class="quiet">nobody now</span>,
            },
            {
              title: "Actions",
              unseenTitle: true,
              end: true,
              cell: (row) =>
                mayWrite && (
                  <Menu
                    label={`Actions on ${row.SubscriptionName}`}
                    actions={[
                      {
                        title: row.Disabled ? "Enable" : "Disable",
                        hint: row.Disabled ? "" : "Ends its workers, until it is enabled",
                        onClick: () =>
                          run(
                            pathOf(database, "admin/tasks/state", {
                              type: "Subscription",
                              key: row.SubscriptionId,
                              disable: row.Disabled ? "false" : "true",
                            }),
                            `${row.SubscriptionName} is ${row.Disabled ? "enabled" : "disabled"}.`,
                          ),
                      },
                      {
                        title: "End its connections",
                        hint: "Its workers do not come back by themselves",
                        onClick: () =>
                          run(
                            pathOf(database, "subscriptions/drop", { name: row.SubscriptionName }),
                            `The connections of ${row.SubscriptionName} are ended.`,
                          ),
                      },
                      {
                        title: "From the beginning …",
                        onClick: () => {
                          asking.value = { action: "again", subscription: row }
                        },
                      },
                      {
                        title: "Delete …",
                        danger: true,
                        onClick: () => {
                          asking.value = { action: "delete", subscription: row }
                        },
                      },
                    ]}
                  />
                ),
            },
          ]}
        />
      )}
      {rows && rows.length > 0 && (
        <p class="quiet small">
          A change of a document has a number, its etag, which grows in a database. {newest !== null && `The newest is ${count(newest)}.`}
        </p>
      )}
      {asking.value?.action === "again" && (
        <Confirm
          title={`Send all of ${asking.value.subscription.SubscriptionName} again?`}
          verb="From the beginning"
          danger
          onConfirm={async () => {
            const { SubscriptionName, SubscriptionId } = asking.value?.subscription ?? {}
            await ask(pathOf(database, "subscriptions/update"), {
              method: "POST",
              body: { Id: SubscriptionId, Name: SubscriptionName, ChangeVector: "BeginningOfTime" },
            })
            toast(`${SubscriptionName} begins anew.`, { tone: "good" })
            await refresh()
          }}
          onClose={() => {
            asking.value = null
          }}
        >
          <p>Its progress is lost: workers get every matching document once more, in the order of their last change.</p>
        </Confirm>
      )}
      {asking.value?.action === "delete" && (
        <Confirm
          title={`Delete the subscription ${asking.value.subscription.SubscriptionName}?`}
          verb="Delete"
          danger
          onConfirm={async () => {
            const name = asking.value?.subscription.SubscriptionName
            await send(pathOf(database, "subscriptions", { taskName: name }), { method: "DELETE" })
            toast(`The subscription ${name} is deleted.`)
            await refresh()
          }}
          onClose={() => {
            asking.value = null
          }}
        >
          <p>Its workers end, and its progress is lost. No document is lost.</p>
        </Confirm>
      )}
    </Panel>
  )
}
