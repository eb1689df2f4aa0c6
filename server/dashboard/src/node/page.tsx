import { Find } from "../overview/find"
import { ago, moment } from "../shell/format"
import { lazy } from "../shell/lazy"
import { isLive, type LiveNode, live, secondsSinceHeard } from "../shell/live"
import { roleTone } from "../shell/node-words"
import { Empty, LinkButton, Panel, Tag } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { may } from "../shell/session"
import { Figures } from "./figures"
import { RedisPanel } from "./redis-panel"
import "./node.css"
import { manualHref } from "../shell/manual-href"

const Charts = lazy(async () => (await import("./charts")).NodeCharts)

/** The page of one node; for a node that is down, its last hours as other members recorded them. */
export function NodePage() {
  const tag = route.value.parts[0] ?? live.value?.Nodes.find((node) => node.IsSelf)?.Tag
  const nodes = live.value?.Nodes
  const node = nodes?.find((other) => other.Tag === tag)
  if (!nodes) {
    return (
      <p class="quiet" role="status">
        Waiting for the first figures …
      </p>
    )
  }

  if (!node || !tag) {
    return (
      <Empty title={`There is no node ${tag ?? ""} in this cluster.`}>
        <a href="#/">To the overview</a>
      </Empty>
    )
  }

  return (
    <div class="stack">
      <Title node={node} nodes={nodes} />
      {node.State === "down" && <Gone node={node} />}
      <Charts key={tag} tag={tag} />
      <Panel title={node.State === "up" ? "Now" : "Its last words"} stale={!isLive.value}>
        <Figures node={node} />
      </Panel>
      {node.State === "up" && <RedisPanel key={`redis ${tag}`} tag={tag} />}
    </div>
  )
}

function Title({ node, nodes }: { node: LiveNode; nodes: readonly LiveNode[] }) {
  return (
    <div class="title-row">
      <h1>
        {node.Name} <span class="quiet">{node.Tag}</span>{" "}
        {node.State === "up" ? (
          <Tag tone={roleTone(node)}>{node.Role}</Tag>
        ) : (
          <Tag tone="bad">{node.State === "down" ? "off" : "unknown"}</Tag>
        )}
      </h1>
      <div class="actions">
        {nodes.length > 1 && (
          <nav class="node-choice" aria-label="Nodes">
            {nodes.map((other) => (
              <a key={other.Tag} href={hrefOf("node", other.Tag)} {...(other.Tag === node.Tag ? { "aria-current": "page" } : {})}>
                {other.Name}
              </a>
            ))}
          </nav>
        )}
        <LinkButton href={`#/io?node=${encodeURIComponent(node.Tag)}`}>IO timeline</LinkButton>
        {may("admin") && (
          <>
            <LinkButton href={`#/logs?node=${encodeURIComponent(node.Tag)}`}>Logs</LinkButton>
            <LinkButton href={`#/settings?node=${encodeURIComponent(node.Tag)}`}>Settings</LinkButton>
            {node.State === "up" && (
              <>
                <LinkButton href={`/admin/node/debug-package?node=${encodeURIComponent(node.Tag)}`} download>
                  Debug package
                </LinkButton>
                <Find node={node} />
              </>
            )}
          </>
        )}
      </div>
    </div>
  )
}

/** The data that other members keep of a node that no longer answers. */
function Gone({ node }: { node: LiveNode }) {
  const seen = secondsSinceHeard(node.Tag)
  return (
    <p class="gone">
      <strong>
        {node.Name} is off{seen === null ? "." : `, and was last heard ${ago(seen)}, at ${moment(Date.now() - seen * 1000)}.`}
      </strong>{" "}
      Below are its last hours as the other nodes keep them in memory: look at its heat, its power and its syncs before it fell silent.{" "}
      <a href={manualHref("/help/how-to/replace-a-node.md")}>How to replace it</a>
    </p>
  )
}
