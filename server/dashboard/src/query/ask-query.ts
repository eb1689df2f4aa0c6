import { memberOf, type Node, parseJson, utf8Length } from "../documents/json-text"
import { readOf } from "../documents/store"
import { send } from "../shell/request"

/** A query to send. */
export interface Question {
  text: string
  /** The query's parameters, as a JSON object; "" for none. */
  parameters: string
  start?: number
  pageSize?: number
  /** How long to wait for a stale index, in seconds; null for the node's default. */
  waitSeconds?: number | null
  /** Whether to request timings. The query's text is not changed for it, so that positions in errors are valid. */
  timings?: boolean
}

/** Whether two questions have the same query and parameters, whatever page they ask for. */
export function isSameQuery(one: Question, other: Question): boolean {
  return one.text === other.text && one.parameters === other.parameters
}

export interface QueryAnswer {
  /** The text of the whole answer. Results are ranges of it, so that numbers stay as written. */
  text: string
  results: readonly Node[]
  /** Ids of the included documents. */
  included: string[]
  total: number
  index: string
  isStale: boolean
  indexTime: string
  serverMilliseconds: number
  milliseconds: number
  bytes: number
  nodeTag: string
  timings: { part: string; milliseconds: number }[] | null
}

export interface Plan {
  IndexName: string
  Results: { Index: string | null; Reason: string; IsChosen: boolean }[]
  PostingsRead?: number
}

/** Builds the request body as text, because parsing the parameters would round their numbers. */
export function bodyOf({ text, parameters, start, pageSize, waitSeconds, timings }: Question): string {
  const members = [`"Query":${JSON.stringify(text)}`]
  if (parameters.trim() !== "") members.push(`"QueryParameters":${parameters.trim()}`)
  if (start !== undefined) members.push(`"Start":${start}`)
  if (pageSize !== undefined) members.push(`"PageSize":${pageSize}`)
  if (waitSeconds != null)
    members.push(`"WaitForNonStaleResults":true`, `"WaitForNonStaleResultsTimeout":${Math.round(waitSeconds * 1000)}`)
  if (timings) members.push(`"IncludeTimings":true`)
  return `{${members.join(",")}}`
}

export async function askQuery(database: string, question: Question, signal?: AbortSignal): Promise<QueryAnswer> {
  const begun = performance.now()
  const response = await send(readOf(database, "queries"), { method: "POST", body: bodyOf(question), ...(signal ? { signal } : {}) })
  const text = await response.text()
  return { ...answerOf(text), milliseconds: performance.now() - begun }
}

export async function askPlan(database: string, question: Question, signal: AbortSignal): Promise<Plan> {
  const response = await send(readOf(database, "queries", { debug: "explain" }), { method: "POST", body: bodyOf(question), signal })
  return (await response.json()) as Plan
}

/** Whether a name in an answer is that of an index; otherwise the query was answered by a scan. */
export function isIndex(name: string): boolean {
  return name !== "" && name !== "AllDocs" && !name.startsWith("collection/")
}

/** Parses an answer. */
export function answerOf(text: string): Omit<QueryAnswer, "milliseconds"> {
  const node = parseJson(text).node ?? undefined
  const results = memberOf(node, "Results")?.items ?? []
  // The other members are small and have small numbers, so JSON.parse can read them.
  const rest = (node?.members ?? []).filter((member) => member.name !== "Results" && member.name !== "Includes")
  const said = JSON.parse(`{${rest.map((member) => text.slice(member.nameStart, member.value.end)).join(",")}}`) as {
    TotalResults?: number
    IndexName?: string
    IsStale?: boolean
    IndexTimestamp?: string
    DurationInMs?: number
    NodeTag?: string
    Timings?: { Timings: Record<string, { DurationInMs: number }> } | null
  }
  return {
    text,
    results,
    included: memberOf(node, "Includes")?.members?.map((member) => member.name) ?? [],
    total: said.TotalResults ?? results.length,
    index: said.IndexName ?? "",
    isStale: said.IsStale ?? false,
    indexTime: said.IndexTimestamp ?? "",
    serverMilliseconds: said.DurationInMs ?? 0,
    bytes: utf8Length(text),
    nodeTag: said.NodeTag ?? "",
    timings: said.Timings
      ? Object.entries(said.Timings.Timings).map(([part, { DurationInMs }]) => ({ part, milliseconds: DurationInMs }))
      : null,
  }
}
