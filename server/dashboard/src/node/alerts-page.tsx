import { ago, duration } from "../shell/format"
import { nowSeconds } from "../shell/history"
import { InlineCode } from "../shell/inline-code"
import { type Alert, live } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Empty, ErrorSentence, Table, Tag, useAsked } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { type AlertGroup, groupsOf, titleOfAlert } from "./alert-groups"
import { AlertMessages } from "./alert-messages"
import "./node.css"

interface AlertRule {
  Name: string
  Severity: "warning" | "critical"
  Expression: string
  ForSeconds: number
  Sentence: string
  Fix: string
  Help: string
}

/** The page of alerts: a card for each that fires, with what to do, and below them all that can fire. */
export function AlertsPage() {
  const { data, trouble, refresh } = useAsked<{ Alerts: AlertRule[] }>("/dashboard/alerts")
  const groups = groupsOf(live.value?.Alerts ?? [])
  return (
    <div class="stack">
      <h1>Alerts</h1>
      <ErrorSentence of={trouble.value} retry={refresh} />
      {live.value && groups.length === 0 && (
        <section class="panel" aria-label="Firing">
          <Empty title="No alert is firing.">Each of the conditions below is watched, on every node.</Empty>
        </section>
      )}
      {groups.length > 0 && (
        <ul class="alert-cards" aria-label="Firing">
          {groups.map((group) => (
            <AlertCard key={group.name} group={group} />
          ))}
        </ul>
      )}
      {may("admin") && <AlertMessages />}
      {data.value && <Catalogue rules={data.value.Alerts} />}
    </div>
  )
}

/** One alert: what it is, on which nodes and since when, and what to do. */
function AlertCard({ group }: { group: AlertGroup }) {
  const { name, severity, alerts } = group
  const [first] = alerts
  if (!first) return null
  const fixes = [...new Set(alerts.map((alert) => alert.Fix))]
  return (
    <li class={`panel alert-card is-${severity}`}>
      <header>
        <h2>{titleOfAlert(name)}</h2>
        <Tag tone={severity === "critical" ? "bad" : "warning"}>{severity}</Tag>
      </header>
      <ul class="alert-places">
        {alerts.map((alert) => (
          <li key={`${alert.Node} ${alert.Member ?? ""}`}>
            <p>
              <InlineCode text={alert.Sentence} />
            </p>
            <p class="quiet">
              <Place alert={alert} /> since {ago(nowSeconds() - Date.parse(alert.Since) / 1000)}
            </p>
          </li>
        ))}
      </ul>
      {fixes.map((fix) => (
        <p key={fix} class="alert-fix">
          <strong>What to do:</strong> <InlineCode text={fix} />
        </p>
      ))}
      <a class="small" href={manualHref(first.Help)}>
        More in the manual
      </a>
    </li>
  )
}

function Place({ alert }: { alert: Alert }) {
  const tag = alert.Member ?? alert.Node
  const node = live.value?.Nodes.find((candidate) => candidate.Tag === tag)
  return <a href={hrefOf("node", tag)}>{node?.Name || tag}</a>
}

/** All conditions, folded, because a user reads them once. */
function Catalogue({ rules }: { rules: readonly AlertRule[] }) {
  return (
    <details class="panel catalogue">
      <summary>
        <h2>All {rules.length} conditions that are watched</h2>
      </summary>
      <p class="quiet small">
        They are rules for Prometheus too: <a href={manualHref("/help/reference/alerts.md")}>how</a>.
      </p>
      <Table
        label="Conditions"
        stacks
        rows={rules}
        keyOf={(rule) => rule.Name}
        columns={[
          {
            title: "Alert",
            cell: (rule) => (
              <span>
                <a href={manualHref(rule.Help)}>{titleOfAlert(rule.Name)}</a>
                <code class="alert-name">{rule.Name}</code>
              </span>
            ),
            sort: (rule) => titleOfAlert(rule.Name),
          },
          {
            title: "Severity",
            cell: (rule) => <Tag tone={rule.Severity === "critical" ? "bad" : "warning"}>{rule.Severity}</Tag>,
            sort: (rule) => rule.Severity,
          },
          {
            title: "What it means",
            cell: (rule) => (
              <span>
                <InlineCode text={rule.Sentence} />
                <details class="fold">
                  <summary>
                    Show the condition<span class="unseen"> of {titleOfAlert(rule.Name)}</span>
                  </summary>
                  <code class="expression">{rule.Expression}</code>
                </details>
              </span>
            ),
          },
          { title: "Fires after", end: true, cell: (rule) => duration(rule.ForSeconds), sort: (rule) => rule.ForSeconds },
        ]}
      />
    </details>
  )
}
