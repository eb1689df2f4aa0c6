import { effect, signal } from "@preact/signals"
import { session } from "./session"

/** What a node said of itself, some seconds ago at most unless it is down. Null is "unknown", never zero. */
export interface Sample {
  UnixMilliseconds: number
  Version: string
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

/** The newest state; it stays when the stream breaks, and {@link isLive} says that it is old then. */
export const live = signal<LiveState | null>(null)
export const isLive = signal(false)

const RetryMilliseconds = 2000

let stream: EventSource | null = null
let retry: ReturnType<typeof setTimeout> | undefined

/** One stream for the whole page; it ends while the page is hidden, so that a forgotten tab costs a Pi nothing. */
export function followLive(): void {
  effect(() => {
    if (session.value?.SignedIn) open()
    else close()
  })
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close()
    else if (session.value?.SignedIn) open()
  })
}

function open(): void {
  if (stream || document.hidden) return
  stream = new EventSource("/dashboard/live")
  stream.addEventListener("state", (event) => {
    live.value = JSON.parse((event as MessageEvent<string>).data) as LiveState
    isLive.value = true
  })
  // The browser gives up for good on a refusal and on some broken connections: a node that restarts must be found again.
  stream.onerror = () => {
    close()
    retry = setTimeout(open, RetryMilliseconds)
  }
}

function close(): void {
  clearTimeout(retry)
  stream?.close()
  stream = null
  isLive.value = false
}
