import { ago } from "../shell/format"
import { nowSeconds } from "../shell/history"
import { InlineCode } from "../shell/inline-code"
import type { Alert, LiveNode } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Panel } from "../shell/panel"
import { hrefOf } from "../shell/route"
import { Tag } from "../shell/tag"

/** The active alerts, the worst first, with what to do. Nothing without alerts. */
export function Alerts({ alerts, nodes }: { alerts: readonly Alert[]; nodes: readonly LiveNode[] }) {
  if (alerts.length === 0) return null
  const worstFirst = [...alerts].sort(
    (a, b) => Number(b.Severity === "critical") - Number(a.Severity === "critical") || a.Since.localeCompare(b.Since),
  )
  return (
    <Panel title="What wants your attention" actions={<a href="#/alerts">All alerts</a>}>
      <ul class="alert-list">
        {worstFirst.map((alert) => (
          <li key={`${alert.Name} ${alert.Member ?? alert.Node}`}>
            <Tag tone={alert.Severity === "critical" ? "bad" : "warning"}>{alert.Severity}</Tag>
            <div>
              <p>
                <strong>
                  <InlineCode text={alert.Sentence} />
                </strong>{" "}
                <span class="quiet">
                  since {ago(nowSeconds() - Date.parse(alert.Since) / 1000)}
                  {nodes.some((node) => node.Tag === (alert.Member ?? alert.Node)) && (
                    <>
                      {" · "}
                      <a href={hrefOf("node", alert.Member ?? alert.Node)}>
                        {nodes.find((node) => node.Tag === (alert.Member ?? alert.Node))?.Name}
                      </a>
                    </>
                  )}
                </span>
              </p>
              <p>
                <InlineCode text={alert.Fix} /> <a href={manualHref(alert.Help)}>More in the manual</a>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
