import { type ComponentChildren, Fragment } from "preact"
import { useRef } from "preact/hooks"
import { count, perSecond } from "../shell/format"
import { manualHref } from "../shell/manual-href"
import { Empty, ErrorSentence, Panel, Table, Tag, useAsked } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { accessOf, type RedisAnswer, type RedisState, ratesOf, sumOf, wordsOf } from "./redis-rates"

const RefreshSeconds = 5

/** Whether a node serves Redis clients, how to let it, and what they do. */
export function RedisPanel({ tag }: { tag: string }) {
  const { data, trouble, refresh } = useAsked<RedisAnswer>(`/dashboard/redis?node=${encodeURIComponent(tag)}`, RefreshSeconds)
  const answer = data.value
  return (
    <Panel
      title="Redis clients"
      actions={answer && (answer.IsOn ? <Tag tone="good">served</Tag> : <Tag>off</Tag>)}
      stale={trouble.value !== null}
    >
      <ErrorSentence of={trouble.value} retry={refresh} />
      {answer && (answer.IsOn ? <Served state={answer} /> : <Off />)}
    </Panel>
  )
}

function Off() {
  return (
    <Empty title="This node serves no Redis clients.">
      <p>
        To turn it on, add <code>{'"redis": {"listen": "6379"}'}</code> to its <code>config.json</code>, or start it with{" "}
        <code>--redis 6379</code>, and restart it. Every member has this setting of its own.
      </p>
      <a href={manualHref("/help/how-to/redis.md#start-it")}>How to use Redis clients</a>
    </Empty>
  )
}

function Served({ state }: { state: RedisState }) {
  const answers = useRef<{ now: RedisState; before?: RedisState }>({ now: state })
  if (answers.current.now !== state) answers.current = { now: state, before: answers.current.now }
  const rates = ratesOf(answers.current.before, state)
  const all = sumOf(rates)
  const figures: [string, ComponentChildren][] = [
    ["Address", <code key="address">{state.Address}</code>],
    ["TLS", accessOf(state)],
    ["Database", may("read") ? <a href={hrefOf("documents", state.Database)}>{state.Database}</a> : state.Database],
    ["Clients", `${count(state.Clients)} of at most ${count(state.MaxClients)}`],
    ["Subscribers among them", count(state.Subscribers)],
    ["Waiting in a command", count(state.Blocked)],
    ["Commands", all === null ? "measured in a moment" : perSecond(all)],
    ["Replies that are errors", count(state.Errors)],
    ["Outcomes unknown", count(state.UnknownOutcomes)],
    ["Connections refused", count(state.Refused)],
    ["Disconnected, did not read", count(state.SlowClients)],
  ]
  return (
    <div class="redis">
      <div>
        <dl class="figures">
          {figures.map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
        </dl>
        <p class="quiet small">
          Counts are since the node's start. <a href={manualHref("/help/how-to/redis.md#see-what-it-does")}>What they mean</a>
        </p>
      </div>
      <Table
        label="Commands of Redis clients"
        rows={rates}
        keyOf={({ family }) => family}
        empty={<Empty title="No command yet." />}
        columns={[
          { title: "Kind of command", cell: ({ family }) => wordsOf(family), sort: ({ family }) => wordsOf(family) },
          {
            title: "Now",
            end: true,
            cell: (rate) => (rate.perSecond === null ? "" : perSecond(rate.perSecond)),
            sort: (rate) => rate.perSecond,
          },
          { title: "Since the start", end: true, cell: ({ total }) => count(total), sort: ({ total }) => total },
        ]}
      />
    </div>
  )
}
