// Checks by which tests see that a fault had an effect.

/** Call it before the fault. Returns a function that reports whether a leader was elected since. */
export async function electionSeen(cluster) {
  const before = (await cluster.health())?.Term
  return async () => (await cluster.health()).Term > before
}

/** Whether the leader misses a member, or there is no leader. */
export async function someoneMissed(cluster) {
  const health = await cluster.health()
  return health === undefined || health.Members.some(({ IsReachable }) => IsReachable === false)
}

/** Whether a member reports that it is not ready, or has less free space than its reserve. */
export async function cardMissed(cluster, member) {
  const { status } = await member.node.request("GET", "/readyz", undefined, { timeout: 2_000 })
  return status !== 200 || await cluster.metric(member, "rookery_disk_free_bytes") < await cluster.metric(member, "rookery_disk_reserve_bytes")
}
