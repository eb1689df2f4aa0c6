import { batch, effect, signal, untracked } from "@preact/signals"
import { may, refreshSession, session } from "./session"

/** The last sample of a node, a few seconds old unless the node is down. Null means unknown, never zero. */
export interface Sample {
  UnixMilliseconds: number
  Version: string
  /** Release of the image; null on machines without it, undefined from nodes of older versions. */
  ImageRelease?: string | null
  UptimeSeconds: number | null
  Ready: boolean
  Reason: string | null
  Model: string | null
  IsSimulated: boolean
  TemperatureCelsius: number | null
  Throttled: string[] | null
  ThrottledSinceBoot: string[] | null
  BackgroundShareRatio: number | null
  ProcessCpuCores: number | null
  MachineCpuRatio: number | null
  ResidentBytes: number | null
  MemoryBudgetBytes: number | null
  MachineMemoryUsedBytes: number | null
  MachineMemoryBytes: number | null
  DiskFreeBytes: number | null
  DiskSizeBytes: number | null
  DiskReserveBytes: number | null
  DeviceWrittenBytes: number | null
  DeviceWrittenBytesPerSecond: number | null
  LifeUsedRatio: number | null
  LifeLeftDays: number | null
  RequestsPerSecond: number | null
  ReadsPerSecond: number | null
  WritesPerSecond: number | null
  ReadP50Milliseconds: number | null
  ReadP99Milliseconds: number | null
  WriteP50Milliseconds: number | null
  WriteP99Milliseconds: number | null
  SyncsPerSecond: number | null
  SyncP50Milliseconds: number | null
  SyncP99Milliseconds: number | null
  JournalBytesPerSecond: number | null
  IndexesStale: number | null
  IndexDocumentsLeft: number | null
  IndexErrors: number | null
  AppliedIndex: number | null
  CommitIndex: number | null
  LastIndex: number | null
  Sequence: number | null
  QueuedCommands: number | null
  Documents: number | null
  CertificateDaysLeft: number | null
  BackupAgeSeconds: number | null
  ClockAheadSeconds: number | null
  IsClockSynchronised: boolean | null
}

export interface LiveNode {
  Tag: string
  Name: string
  Url: string | null
  Role: "leader" | "voter" | "learner" | "alone"
  IsSelf: boolean
  State: "up" | "down" | "unknown"
  SeenSeconds: number | null
  LagEntries: number | null
  SyncP99Milliseconds: number | null
  SpareBytes: number | null
  LimitsCapacity: boolean
  Unplug: { MayI: boolean; Sentence: string }
  Sample: Sample | null
}

export interface Alert {
  Name: string
  Severity: "warning" | "critical"
  Node: string
  Since: string
  Sentence: string
  Fix: string
  Help: string
  /** Tag of the member that the alert is about, if another node reports it. */
  Member: string | null
}

export interface LiveIndex {
  Database: string
  Name: string
  State: string
  IsStale: boolean
  DocumentsLeft: number | null
  SecondsLeft: number | null
  Errors: number
}

export interface LiveState {
  Time: string
  Health: { Level: "ok" | "warning" | "error"; Sentence: string }
  Cluster: { Name: string; LeaderTag: string | null; Term: number; Role: string; Trouble: string | null; ReadsAreLocal: boolean } | null
  Alerts: Alert[]
  Nodes: LiveNode[]
  Indexes: LiveIndex[]
}

/** The newest state. It is kept when the stream breaks; {@link isLive} is false then. */
export const live = signal<LiveState | null>(null)
export const isLive = signal(false)

/** Whether events are missing, although the page has been visible for some seconds. */
export const isBroken = signal(false)

/** Age of the newest state in seconds; null before the first. It grows while the stream is broken. */
export const ageSeconds = signal<number | null>(null)

/** Returns the newest state of a member by its tag. */
export function nodeOf(tag: string | undefined): LiveNode | undefined {
  return live.value?.Nodes.find((node) => node.Tag === tag)
}

/**
 * Returns the seconds since a member was last heard, the same value on all pages. Null if it was never heard, or is
 * unknown.
 */
export function secondsSinceHeard(tag: string): number | null {
  const seen = nodeOf(tag)?.SeenSeconds
  return seen == null ? null : seen + (ageSeconds.value ?? 0)
}

const RetryMilliseconds = 2000

// The node sends an event each second. If it loses its power, missing events are the only sign of that.
const QuietSeconds = 4
const BrokenSeconds = 10

let stream: EventSource | null = null
let retry: ReturnType<typeof setTimeout> | undefined
let heard = 0
let opened = 0
let shownSince = 0

/**
 * Opens the live stream, one for the whole page. Closes it while the page is hidden, so that a forgotten tab costs a
 * node nothing.
 */
export function followLive(): void {
  effect(() => {
    const isWanted = session.value?.SignedIn && may("metrics")
    if (isWanted) untracked(open)
    else untracked(forget)
  })
  document.addEventListener("visibilitychange", () => {
    shownSince = performance.now()
    if (document.hidden) close()
    else if (session.peek()?.SignedIn && may("metrics")) open()
  })
  setInterval(watch, 1000)
}

function open(): void {
  if (stream || document.hidden) return
  clearTimeout(retry)
  opened = performance.now()
  stream = new EventSource("/dashboard/live")
  stream.addEventListener("state", (event) => {
    heard = performance.now()
    batch(() => {
      live.value = JSON.parse((event as MessageEvent<string>).data) as LiveState
      isLive.value = true
      isBroken.value = false
      ageSeconds.value = 0
    })
  })
  // Browsers do not reconnect after a refusal and after some broken connections, so reconnect here.
  stream.onerror = again
}

/** Reconnects. Reads the session first, because a revoked token ends the stream too. */
function again(): void {
  close()
  retry = setTimeout(async () => {
    try {
      await refreshSession()
      if (session.peek()?.SignedIn && may("metrics")) open()
    } catch {
      again()
    }
  }, RetryMilliseconds)
}

function watch(): void {
  if (live.peek() === null || document.hidden) return
  const age = (performance.now() - heard) / 1000
  ageSeconds.value = Math.round(age)
  if (age > QuietSeconds) isLive.value = false
  isBroken.value = !isLive.value && age > QuietSeconds && performance.now() - shownSince > QuietSeconds * 1000
  if (stream && age > BrokenSeconds && (performance.now() - opened) / 1000 > BrokenSeconds) again()
}

function close(): void {
  clearTimeout(retry)
  stream?.close()
  stream = null
  isLive.value = false
}

function forget(): void {
  close()
  live.value = null
  ageSeconds.value = null
}
