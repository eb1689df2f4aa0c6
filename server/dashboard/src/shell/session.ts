import { computed, signal } from "@preact/signals"
import { ask, onUnknown, send } from "./request"

/** The session of this browser at the node. */
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

// Without this limit a browser waits for minutes for a node that lost its power.
const PatienceMilliseconds = 5000

/** The session; null until it was read. */
export const session = signal<Session | null>(null)

/** Whether the caller has only the scope `metrics`, as a kiosk does. It sees only the overview and the timeline. */
export const isKiosk = computed(
  () => session.value?.SignedIn === true && session.value.Scopes.every((scope) => scope === "metrics") && !session.value.Databases,
)

/** Reads the session. Throws {@link Refusal} and keeps the previous session if that fails. */
export async function refreshSession(): Promise<void> {
  session.value = await ask<Session>("/session", { signal: AbortSignal.timeout(PatienceMilliseconds) })
}

let isSignedOut = false

/** Whether the node ended the session, and not the user by "Sign out". */
export function hasEnded(): boolean {
  return session.peek()?.SignedIn === false && !isSignedOut
}

// A token was revoked, or the session has ended. A failed sign-in gets 401 too, but must not change the session.
onUnknown(() => {
  if (session.peek()?.SignedIn) refreshSession().catch(() => {})
})

/** Signs in by a token. Throws {@link Refusal} if the token is unknown. */
export async function signIn(token: string): Promise<void> {
  await send("/session", { method: "POST", body: { Token: token.trim() } })
  isSignedOut = false
  await refreshSession()
}

export async function signOut(): Promise<void> {
  await send("/session", { method: "DELETE" })
  isSignedOut = true
  await refreshSession()
}

/**
 * Whether the user has a scope in a database, or without `database` in any. Used only to hide actions: the node checks
 * each request.
 */
export function may(scope: string, database?: string): boolean {
  const { Scopes = [], Databases = null } = session.value ?? {}
  if (Scopes.includes("admin")) return true
  if (!Databases) return Scopes.includes(scope)
  if (scope === "metrics") return Scopes.includes(scope)
  return database === undefined
    ? Object.values(Databases).some((scopes) => scopes.includes(scope))
    : (Databases[database]?.includes(scope) ?? false)
}
