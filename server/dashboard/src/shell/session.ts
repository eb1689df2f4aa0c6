import { signal } from "@preact/signals"
import { ask, send } from "./request"

/** Who this browser is for the node. */
export interface Session {
  SignedIn: boolean
  By: "open" | "token" | "certificate" | "session" | null
  Name: string | null
  Scopes: string[]
  Databases: Record<string, string[]> | null
  IsSecure: boolean
  IsClaimed: boolean | null
  NodeTag: string
  NodeName: string
  ClusterName: string
  Version: string
  Reason: string | null
}

/** Null until the node has said it. */
export const session = signal<Session | null>(null)

export async function refreshSession(): Promise<void> {
  session.value = await ask<Session>("/session")
}

/** Throws {@link Refusal} when the token is not known. */
export async function signIn(token: string): Promise<void> {
  await send("/session", { method: "POST", body: { Token: token.trim() } })
  await refreshSession()
}

export async function signOut(): Promise<void> {
  await send("/session", { method: "DELETE" })
  await refreshSession()
}

/** Whether what needs this scope is worth offering. The node judges each request anyway. */
export function may(scope: string): boolean {
  const scopes = session.value?.Scopes ?? []
  return scopes.includes(scope) || scopes.includes("admin")
}
