import { ago, duration } from "../shell/format"
import { nowSeconds } from "../shell/history"
import { type Alert, live } from "../shell/live"
import { ErrorSentence, Panel, Table, Tag, useAsked } from "../shell/parts"
import { hrefOf } from "../shell/route"
import "./node.css"
import { manualHref } from "../shell/manual-href"

interface AlertRule {
  Name: string
  Severity: "warning" | "critical"
  Expression: string
  ForSeconds: number
  Sentence: string
  Fix: string
  Help: string
}

/** The page of all alerts: their conditions, which are active, and what to do. */
export function AlertsPage() {
  const { data, trouble, refresh } = useAsked<{ Alerts: AlertRule[] }>("/dashboard/alerts")
  const firing = live.value?.Alerts ?? []
  const rules = data.value?.Alerts ?? []
  const rows = [...rules].sort((a, b) => Number(firingOf(b, firing).length > 0) - Number(firingOf(a, firing).length > 0))
  return (
    <div class="stack">
      <h1>Alerts</h1>
      <ErrorSentence of={trouble.value} retry={refresh} />
      {data.value && (
        <Panel
          title={firing.length === 0 ? "None is firing" : `${firing.length} firing`}
          actions={
            <span class="quiet small">
              Also for Prometheus, and sent by webhook: <a href={manualHref("/help/reference/alerts.md")}>how</a>
            </span>
          }
        >
          <Table
            label="Alerts"
            stacks
            rows={rows}
            keyOf={(rule) => rule.Name}
            columns={[
              { title: "State", cell: (rule) => <State rule={rule} firing={firingOf(rule, firing)} /> },
              {
                title: "Alert",
                cell: (rule) => (
                  <span>
                    <a href={manualHref(rule.Help)}>{rule.Name}</a>
                    <code class="expression">{rule.Expression}</code>
                  </span>
                ),
                sort: (rule) => rule.Name,
              },
              {
                title: "When it holds for",
                end: true,
                wideOnly: true,
                cell: (rule) => duration(rule.ForSeconds),
                sort: (rule) => rule.ForSeconds,
              },
              {
                title: "What to do",
                cell: (rule) => <span>{firingOf(rule, firing)[0]?.Fix ?? rule.Fix}</span>,
              },
            ]}
          />
        </Panel>
      )}
    </div>
  )
}

function firingOf(rule: AlertRule, firing: readonly Alert[]): Alert[] {
  return firing.filter((alert) => alert.Name === rule.Name)
}

function State({ rule, firing }: { rule: AlertRule; firing: readonly Alert[] }) {
  if (firing.length === 0) return <Tag tone="good">well</Tag>
  return (
    <span>
      <Tag tone={rule.Severity === "critical" ? "bad" : "warning"}>{rule.Severity}</Tag>
      {firing.map((alert) => (
        <span key={alert.Member ?? alert.Node} class="expression">
          <a href={hrefOf("node", alert.Member ?? alert.Node)}>
            {live.value?.Nodes.find((node) => node.Tag === (alert.Member ?? alert.Node))?.Name ?? alert.Member ?? alert.Node}
          </a>{" "}
          {ago(nowSeconds() - Date.parse(alert.Since) / 1000)}
        </span>
      ))}
    </span>
  )
}
