import { live } from "../shell/live"

/** Whether the node is in no cluster; null before its state is known. */
export function isAlone(): boolean | null {
  return live.value === null ? null : live.value.Cluster === null
}

/** Returns a path to ask for; null while it is unknown whether there is a cluster, and on a node alone, which refuses it. */
export function inCluster(path: string): string | null {
  return isAlone() === false ? path : null
}
