import { ask } from "../shell/request"

/** As /admin/cluster/nodes tells of it; what nobody knows is missing there. */
export interface Member {
  Tag: string
  Name: string
  NodeId: string
  Role: "leader" | "voter" | "learner"
  Url: string | null
  IsReachable?: boolean
  LagEntries?: number
  SyncP99Milliseconds?: number
  HeardSeconds?: number
  SpareBytes?: number
  IsSelf: boolean
}

export interface MemberList {
  Leader: string | null
  Term: number
  Voters: number
  Tolerance: number
  Note: string
  Unreached?: string[]
  Members: Member[]
}

export type Order = "remove" | "promote" | "demote" | "transfer"

/** Gives an order on a member to the cluster, and what was done in a sentence. Throws what it says against it. */
export async function order(which: Order, member: Member): Promise<string> {
  const name = encodeURIComponent(member.Name)
  const { Message } = await (which === "remove"
    ? ask<{ Message: string }>(`/admin/cluster/nodes?name=${name}`, { method: "DELETE" })
    : ask<{ Message: string }>(`/admin/cluster/nodes/${which}?name=${name}`, { method: "POST" }))
  return Message
}
