import { computed, signal } from "@preact/signals"
import { ask, onUnknown, send } from "./request"

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

// A Pi that lost its power closes no connection, and a browser waits for minutes.
const PatienceMilliseconds = 5000

/** Null until the node has said it. */
export const session = signal<Session | null>(null)

/** Whether this is a kiosk or another reader of figures only: it is shown the overview and the timeline. */
export const isKiosk = computed(
  () => session.value?.SignedIn === true && session.value.Scopes.every((scope) => scope === "metrics") && !session.value.Databases,
)

/** Throws {@link Refusal}; what was known before stays. */
export async function refreshSession(): Promise<void> {
  session.value = await ask<Session>("/session", { signal: AbortSignal.timeout(PatienceMilliseconds) })
}

// A token was withdrawn, or the session is over. A failed sign-in is answered with 401 too, and changes nothing.
onUnknown(() => {
  if (session.peek()?.SignedIn) refreshSession().catch(() => {})
})

/** Throws {@link Refusal} when the token is not known. */
export async function signIn(token: string): Promise<void> {
  await send("/session", { method: "POST", body: { Token: token.trim() } })
  await refreshSession()
}

export async function signOut(): Promise<void> {
  await send("/session", { method: "DELETE" })
  await refreshSession()
}

/** Whether what needs this scope, in this database or in any, is worth offering. The node judges each request anyway. */
export function may(scope: string, database?: string): boolean {
  const { Scopes = [], Databases = null } = session.value ?? {}
  if (Scopes.includes("admin")) return true
  if (!Databases) return Scopes.includes(scope)
  if (scope === "metrics") return Scopes.includes(scope)
  return database === undefined
    ? Object.values(Databases).some((scopes) => scopes.includes(scope))
    : (Databases[database]?.includes(scope) ?? false)
}
