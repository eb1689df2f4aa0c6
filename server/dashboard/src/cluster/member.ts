import { ask } from "../shell/request"

/** A member as /admin/cluster/nodes reports it. Unknown values are absent. */
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

export type MemberChange = "remove" | "promote" | "demote" | "transfer"

/**
 * Asks the node to change a member, for example to promote it. Returns the node's message about the result; throws the
 * node's refusal.
 */
export async function changeMember(change: MemberChange, member: Member): Promise<string> {
  const name = encodeURIComponent(member.Name)
  const { Message } = await (change === "remove"
    ? ask<{ Message: string }>(`/admin/cluster/nodes?name=${name}`, { method: "DELETE" })
    : ask<{ Message: string }>(`/admin/cluster/nodes/${change}?name=${name}`, { method: "POST" }))
  return Message
}
