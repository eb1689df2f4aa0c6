import { live } from "../shell/live"

/** Whether the node is in no cluster; null before its state is known. */
export function isAlone(): boolean | null {
  return live.value === null ? null : live.value.Cluster === null
}

/** Returns the path if the node is known to be in a cluster; otherwise null, because a node alone refuses the path. */
export function inCluster(path: string): string | null {
  return isAlone() === false ? path : null
}
