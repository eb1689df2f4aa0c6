/** The answer of /dashboard/redis of a node that serves Redis clients. Counts are since its start. */
export interface RedisState {
  Node: string
  IsOn: true
  Address: string
  UsesTls: boolean
  Database: string
  UptimeSeconds: number
  Clients: number
  MaxClients: number
  Subscribers: number
  Blocked: number
  Commands: Record<string, number>
  Errors: number
  Refused: number
  UnknownOutcomes: number
  SlowClients: number
}

export type RedisAnswer = RedisState | { Node: string; IsOn: false }

export interface FamilyRate {
  family: string
  /** Commands since the start. */
  total: number
  /** Null before a second answer. */
  perSecond: number | null
}

const familyWords: Record<string, string> = {
  generic: "keys of any type",
  string: "strings",
  hash: "hashes",
  list: "lists",
  set: "sets",
  json: "JSON",
  pubsub: "publish and subscribe",
  stream: "stream of changes",
}

/** Returns the kind of commands as a user calls it. */
export function wordsOf(family: string): string {
  return familyWords[family] ?? family
}

/** Returns the seconds between two answers; null if the node was started in between, because its counts begin anew. */
function secondsBetween(before: RedisState | undefined, now: RedisState): number | null {
  const seconds = before && before.Node === now.Node ? now.UptimeSeconds - before.UptimeSeconds : 0
  return seconds > 0 ? seconds : null
}

/** Returns the commands of each kind, the most frequent first, with their rates since an earlier answer. */
export function ratesOf(before: RedisState | undefined, now: RedisState): FamilyRate[] {
  const seconds = secondsBetween(before, now)
  return Object.entries(now.Commands)
    .map(([family, total]) => ({
      family,
      total,
      perSecond: seconds === null ? null : (total - (before?.Commands[family] ?? 0)) / seconds,
    }))
    .sort((left, right) => (right.perSecond ?? 0) - (left.perSecond ?? 0) || right.total - left.total)
}

/** Returns the rate of all commands; null if it is not known yet. */
export function sumOf(rates: readonly FamilyRate[]): number | null {
  return rates.some(({ perSecond }) => perSecond === null) ? null : rates.reduce((sum, { perSecond }) => sum + (perSecond ?? 0), 0)
}

/** Says who may connect, and whether over TLS. */
export function accessOf({ Address, UsesTls }: RedisState): string {
  return UsesTls
    ? "yes, with the node's certificate; clients need a token"
    : /^(127\.|\[::1\])/.test(Address)
      ? "no; only programs on this machine connect"
      : "no"
}
