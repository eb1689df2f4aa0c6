import { memberOf, parseJson, stringOf } from "../documents/json-text"
import { pathOf, readOf } from "../documents/store"
import { ask, send } from "../shell/request"

/** A counter. Its value is a text, because numbers of JavaScript round values of 64 bits. */
export interface Counter {
  name: string
  value: string
}

/** Reads the counters of an answer. One that was deleted meanwhile is null, and left out. */
export function countersOf(answer: string): Counter[] {
  const { node } = parseJson(answer)
  return (memberOf(node ?? undefined, "Counters")?.items ?? []).flatMap((counter) => {
    const name = memberOf(counter, "CounterName")
    const value = memberOf(counter, "TotalValue")
    return name && value ? [{ name: stringOf(answer, name), value: answer.slice(value.start, value.end) }] : []
  })
}

export async function readCounters(database: string, id: string, signal: AbortSignal): Promise<Counter[]> {
  return countersOf(await (await send(readOf(database, "counters", { docId: id }), { signal })).text())
}

/** Returns why a text is no increment; null if it is one. */
export function deltaProblem(text: string): string | null {
  if (!/^[+-]?\d{1,19}$/.test(text.trim())) return "An increment is a whole number, such as 1 or -5."
  const value = BigInt(text.trim().replace(/^\+/, ""))
  return value >= -(2n ** 63n) && value < 2n ** 63n ? null : "An increment has at most 64 bits."
}

/** Returns the body of a request with one operation on a counter. `delta` is written as it is, with all its digits. */
export function bodyOfOperation(id: string, name: string, type: "Increment" | "Delete", delta?: bigint): string {
  const operation = `{"Type":"${type}","CounterName":${JSON.stringify(name)}${delta === undefined ? "" : `,"Delta":${delta}`}}`
  return `{"Documents":[{"DocumentId":${JSON.stringify(id)},"Operations":[${operation}]}]}`
}

/** Adds to a counter, and creates it if it is missing. The same `key` again adds nothing: the outcome may be unknown. */
export async function increment(database: string, id: string, name: string, delta: bigint, key: string): Promise<void> {
  await ask(pathOf(database, "counters"), {
    method: "POST",
    body: bodyOfOperation(id, name, "Increment", delta),
    headers: { "Idempotency-Key": key },
  })
}

export async function deleteCounter(database: string, id: string, name: string): Promise<void> {
  await ask(pathOf(database, "counters"), { method: "POST", body: bodyOfOperation(id, name, "Delete") })
}

/** Returns a key for one write. Not by `crypto.randomUUID`, which browsers offer over HTTPS only. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** Groups the digits of a value. */
export function grouped(value: string): string {
  return value.replace(/\B(?=(\d{3})+$)/g, ",")
}
