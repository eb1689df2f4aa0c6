import type { ComponentChildren } from "preact"
import { lost } from "./enter"
import { duration } from "./format"
import { ageSeconds, isBroken, live } from "./live"
import { route } from "./route"
import { session } from "./session"

/** Banners above the page: outdated data, no leader, a node that is not ready. */
export function Banners() {
  const cluster = live.value?.Cluster
  const { Reason = null, NodeName = "This node", SignedIn = false } = session.value ?? {}
  const age = ageSeconds.value ?? 0
  if (!SignedIn) return lost.value ? <Banner tone="bad">{lost.value}</Banner> : null
  return (
    <>
      {isBroken.value && live.value && (
        <Banner tone="warning">
          <strong>{NodeName} does not answer.</strong> Shown as of {duration(age)} ago. <Others />
        </Banner>
      )}
      {cluster && cluster.LeaderTag === null && (
        <Banner tone="bad">
          <strong>No leader: nothing is written now.</strong> {/* The overview says why in its own sentence. */}
          {route.value.page !== "" && `${cluster.Trouble ?? ""} `}
          {cluster.ReadsAreLocal && "Documents are shown as this node has them, and may be older than what was written last."}
        </Banner>
      )}
      {Reason && !cluster?.Trouble && (
        <Banner tone="bad">
          <strong>{NodeName} is not ready.</strong> {Reason}
        </Banner>
      )}
    </>
  )
}

/** Links to other members, which show the same page. */
function Others() {
  const others = (live.value?.Nodes ?? []).filter((node) => !node.IsSelf && node.Url && node.State === "up")
  if (others.length === 0) return null
  return (
    <>
      Look through{" "}
      {others.map((node, at) => (
        <span key={node.Tag}>
          {at > 0 && " or "}
          <a href={`${node.Url}${location.hash}`}>{node.Name}</a>
        </span>
      ))}
      .
    </>
  )
}

function Banner({ tone, children }: { tone: "warning" | "bad"; children: ComponentChildren }) {
  return (
    <p class={`banner ${tone}`} role="status">
      {children}
    </p>
  )
}
