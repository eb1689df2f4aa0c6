import { expect, test } from "vitest"
import { accessOf, type RedisState, ratesOf, sumOf, wordsOf } from "../../src/node/redis-rates"

const state = (UptimeSeconds: number, Commands: Record<string, number>, more: Partial<RedisState> = {}): RedisState => ({
  Node: "A",
  IsOn: true,
  Address: "127.0.0.1:6379",
  UsesTls: false,
  Database: "redis",
  UptimeSeconds,
  Clients: 1,
  MaxClients: 240,
  Subscribers: 0,
  Blocked: 0,
  Commands,
  Errors: 0,
  Refused: 0,
  UnknownOutcomes: 0,
  SlowClients: 0,
  ...more,
})

test("Rates count the commands since the answer before, the most frequent kind first", () => {
  const rates = ratesOf(state(100, { string: 1000, hash: 10 }), state(105, { string: 1010, hash: 60, list: 5 }))
  expect(rates.map(({ family, perSecond }) => [family, perSecond])).toEqual([
    ["hash", 10],
    ["string", 2],
    ["list", 1],
  ])
  expect(sumOf(rates)).toBe(13)
})

test("A rate is unknown, not 0, before a second answer, after a restart, and for another node", () => {
  const now = state(5, { string: 10 })
  for (const before of [undefined, state(900, { string: 5 }), state(1, { string: 5 }, { Node: "B" })]) {
    const rates = ratesOf(before, now)
    expect(rates).toEqual([{ family: "string", total: 10, perSecond: null }])
    expect(sumOf(rates)).toBeNull()
  }

  expect(sumOf(ratesOf(undefined, state(5, {})))).toBe(0)
})

test("A kind of commands that this dashboard does not know keeps its name", () => {
  expect([wordsOf("pubsub"), wordsOf("connection"), wordsOf("moons")]).toEqual(["publish and subscribe", "connection", "moons"])
})

test("It is said who can connect", () => {
  expect(accessOf(state(1, {}))).toContain("only programs on this machine")
  expect(accessOf(state(1, {}, { Address: "[::1]:6379" }))).toContain("only programs on this machine")
  expect(accessOf(state(1, {}, { Address: "[::]:6379", UsesTls: true }))).toContain("token")
  expect(accessOf(state(1, {}, { Address: "0.0.0.0:6379" }))).toBe("no")
})
