import { lazy } from "../shell/lazy"
import { isLive, live } from "../shell/live"
import { Alerts } from "./alerts"
import { Health } from "./health"
import { Indexing } from "./indexing"
import { NodeCard } from "./node-card"
import "./overview.css"

const Charts = lazy(async () => (await import("./charts")).Charts)

/** The overview page: health, load, temperature and free space of the cluster. */
export function OverviewPage() {
  const state = live.value
  if (!state) {
    return (
      <p class="quiet" role="status">
        Waiting for the first figures …
      </p>
    )
  }

  return (
    <div class={`stack overview ${isLive.value ? "" : "old"}`}>
      <h1 class="unseen">Overview</h1>
      <Health state={state} />
      <Alerts alerts={state.Alerts} nodes={state.Nodes} />
      <ul class={`node-cards of-${state.Nodes.length}`} aria-label="Nodes">
        {state.Nodes.map((node) => (
          <NodeCard key={node.Tag} node={node} />
        ))}
      </ul>
      <Charts />
      <Indexing indexes={state.Indexes} />
    </div>
  )
}
