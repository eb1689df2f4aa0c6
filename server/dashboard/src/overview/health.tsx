import { ago, bytes, count, perSecond } from "../shell/format"
import type { LiveNode, LiveState, Sample } from "../shell/live"

const signs = {
  ok: "M5 12.5 10 17.5 19.5 7",
  warning: "M12 4v10M12 18.5v.5",
  error: "M6 6l12 12M18 6 6 18",
}

/** The summary of the cluster's health in one sentence, and the values of the whole cluster. */
export function Health({ state }: { state: LiveState }) {
  const { Level, Sentence } = state.Health
  const up = state.Nodes.filter((node) => node.State === "up")
  const leader = state.Nodes.find((node) => node.Role === "leader" || node.Role === "alone")
  const source = leader?.Sample ?? up.find((node) => node.IsSelf)?.Sample ?? null
  const limit = state.Nodes.find((node) => node.LimitsCapacity) ?? (state.Cluster ? undefined : leader)
  return (
    <section class={`health ${Level}`} aria-label="Health">
      <div class="verdict" role="status">
        <svg viewBox="0 0 24 24" width="34" height="34" aria-hidden="true">
          <path d={signs[Level]} fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" />
        </svg>
        <p>{Sentence}</p>
      </div>
      <dl class="totals">
        <Total label="Leader" value={state.Cluster ? (leader?.Name ?? "none") : "alone"} isName />
        <Total label="Writes" value={perSecond(sumOf(up, "WritesPerSecond"))} />
        <Total label="Reads" value={perSecond(sumOf(up, "ReadsPerSecond"))} />
        <Total label="Documents" value={count(source?.Documents)} />
        <Total
          label="Room left"
          value={limit?.SpareBytes != null && limit.SpareBytes < 0 ? "none" : bytes(limit?.SpareBytes)}
          more={state.Cluster && limit ? `by ${limit.Name}` : ""}
        />
        <Total label="Last backup" value={source?.BackupAgeSeconds == null ? "none known" : ago(source.BackupAgeSeconds)} />
      </dl>
    </section>
  )
}

function Total({ label, value, more = "", isName = false }: { label: string; value: string; more?: string; isName?: boolean }) {
  return (
    <div>
      <dt>
        {label}
        {more && ` ${more}`}
      </dt>
      <dd class={isName ? "" : "number"}>{value}</dd>
    </div>
  )
}

/** Sums the known values of all nodes; null if no node has one. */
export function sumOf(nodes: readonly LiveNode[], name: keyof Sample): number | null {
  const known = nodes.map((node) => node.Sample?.[name]).filter((value) => typeof value === "number")
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
