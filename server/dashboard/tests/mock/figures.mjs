// The figures of three mock nodes: smooth with a little noise. They depend only on the time, so that history and live figures agree.

export const nodes = [
  { Tag: "A", Name: "pi-1", heat: 52, sync: 7.5, written: 1.31e12, model: "Raspberry Pi 4 Model B Rev 1.4", disk: 62e9, load: 1 },
  { Tag: "B", Name: "pi-2", heat: 56, sync: 9, written: 2.02e12, model: "Raspberry Pi 4 Model B Rev 1.4", disk: 31e9, load: 0.7 },
  { Tag: "C", Name: "pi-3", heat: 49, sync: 12.5, written: 0.44e12, model: "Raspberry Pi 3 Model B Plus Rev 1.3", disk: 62e9, load: 0.6 },
]

export const began = Date.now() / 1000
const DeadBefore = 23 * 60

/** Returns since which second a node is off; null if it is on. */
export function diedAt(scenario, tag) {
  if (scenario === "one-dead" && tag === "C") return began - DeadBefore
  if (scenario === "no-quorum" && tag === "B") return began - 95
  if (scenario === "no-quorum" && tag === "C") return began - DeadBefore
  return null
}

function noise(seed, at) {
  const x = Math.sin(seed * 127.1 + Math.floor(at) * 311.7) * 43_758.5453
  return x - Math.floor(x) - 0.5
}

function wave(at, period, phase) {
  return Math.sin((at / period) * 2 * Math.PI + phase)
}

/** Returns the sample that node number `n` reports at this second. */
export function sampleAt(scenario, n, at) {
  const node = nodes[n]
  const dead = diedAt(scenario, node.Tag)
  const hot = scenario === "hot" && node.Tag === "B"
  // In the last quarter of an hour before a node fails it gets hot, its supply voltage drops, and its syncs take longer.
  const agony = dead === null ? 0 : Math.max(0, Math.min(1, 1 - (dead - at) / 900))
  const day = 0.6 + 0.4 * wave(at, 86_400, 4)
  const load = node.load * (day + 0.25 * wave(at, 1300, n) + 0.15 * wave(at, 97, n * 2) + 0.3 * noise(n, at))
  const writes = Math.max(0, (n === 0 ? 140 : 22) * load)
  const reads = Math.max(0, 310 * load * (n === 2 ? 0.4 : 1))
  const sync = node.sync * (1 + 0.2 * wave(at, 700, n) + 0.4 * noise(n + 9, at)) * (1 + 40 * agony * agony) * (hot ? 2.2 : 1)
  const temperature = node.heat + 7 * day + 3 * wave(at, 900, n) + noise(n, at / 10) + 27 * agony + (hot ? 17 : 0)
  const throttled = hot ? ["throttled", "soft_temperature_limit"] : agony > 0.6 ? ["under_voltage"] : []
  return {
    UnixMilliseconds: Math.round(at * 1000),
    Version: "0.1.0",
    UptimeSeconds: Math.round(at - began + 86_400 * (n * 3 + 2.4)),
    Ready: true,
    Reason: null,
    Model: node.model,
    IsSimulated: false,
    TemperatureCelsius: node.Tag === "C" && scenario === "hot" ? null : round(temperature, 1),
    Throttled: node.Tag === "C" && scenario === "hot" ? null : throttled,
    ThrottledSinceBoot: node.Tag === "C" && scenario === "hot" ? null : [...throttled, ...(n === 1 && !hot ? ["under_voltage"] : [])],
    BackgroundShareRatio: hot ? 0 : 0.5,
    ProcessCpuCores: round(0.12 + load * 0.5, 2),
    MachineCpuRatio: round(Math.min(1, 0.08 + load * 0.22 + (hot ? 0.4 : 0)), 3),
    ResidentBytes: Math.round((92 + 20 * load) * 1048_576),
    MemoryBudgetBytes: 256 * 1048_576,
    MachineMemoryUsedBytes: Math.round((n === 2 ? 0.52e9 : 1.3e9) + 5e7 * load),
    MachineMemoryBytes: n === 2 ? 958_398_464 : 3_981_000_000,
    DiskFreeBytes: Math.round(node.disk * (n === 1 ? 0.34 : 0.71) - (at - began) * 900),
    DiskSizeBytes: node.disk,
    DiskReserveBytes: Math.round(node.disk * 0.05),
    DeviceWrittenBytes: Math.round(node.written + (at - began) * 310_000),
    DeviceWrittenBytesPerSecond: Math.round(writes * 2300 + 40_000 * (1 + noise(n, at))),
    LifeUsedRatio: [0.021, 0.117, null][n],
    LifeLeftDays: [2870, 640, null][n],
    RequestsPerSecond: round(reads + writes, 1),
    ReadsPerSecond: round(reads, 1),
    WritesPerSecond: round(writes, 1),
    ReadP50Milliseconds: round(0.42 + 0.1 * load, 2),
    ReadP99Milliseconds: round(3.1 + 2 * load + 2 * Math.abs(noise(n + 3, at)), 2),
    WriteP50Milliseconds: round(sync * 1.15, 2),
    WriteP99Milliseconds: round(sync * 2.4 + 6 * Math.abs(noise(n + 5, at)), 2),
    SyncsPerSecond: round(Math.min(95, writes / 2.2), 1),
    SyncP50Milliseconds: round(sync * 0.62, 2),
    SyncP99Milliseconds: round(sync, 2),
    JournalBytesPerSecond: Math.round(writes * 2100),
    IndexesStale: n === 0 ? 1 : 0,
    IndexDocumentsLeft: n === 0 ? Math.max(0, 84_000 - Math.round(((at - began) * 120) % 84_000)) : 0,
    IndexErrors: 0,
    AppliedIndex: Math.round(912_400 + (at - began) * 46),
    CommitIndex: Math.round(912_400 + (at - began) * 46),
    LastIndex: Math.round(912_401 + (at - began) * 46),
    Sequence: Math.round(4_180_220 + (at - began) * 140),
    QueuedCommands: Math.round(Math.max(0, 3 * noise(n, at))),
    Documents: Math.round(1_204_332 + (at - began) * 90),
    CertificateDaysLeft: 211 + n,
    BackupAgeSeconds: 41_000 + Math.round(at - began),
    ClockAheadSeconds: round(0.004 * noise(n, at), 4),
    IsClockSynchronised: true,
  }
}

export function round(value, digits) {
  return Math.round(value * 10 ** digits) / 10 ** digits
}

const kinds = ["journal_write", "journal_sync", "read", "run_write", "compaction", "index"]

/** The newest `most` disk events of a node in [from, to) seconds: journal writes with their syncs, and background work between them. */
export function eventsBetween(scenario, n, from, to, most = 8192) {
  const rows = []
  const dead = diedAt(scenario, nodes[n].Tag)
  for (let slot = Math.floor(Math.min(to, dead ?? to) * 40); slot >= from * 40 && rows.length < most; slot--) {
    const at = slot / 40
    const chance = noise(n + 20, slot) + 0.5
    const start = Math.round(at * 1e6 + chance * 8000)
    // Only one sync runs at a time, so none begins while another one stalls.
    const sinceStall = slot % 331
    if (chance < 0.55 + 0.2 * wave(at, 60, n) && (sinceStall === 0 || sinceStall > 7)) {
      const sync = (sampleAt(scenario, n, at).SyncP99Milliseconds * (0.35 + chance * 0.6) + (sinceStall === 0 ? 130 : 0)) * 1000
      rows.push(["journal_sync", start + 300, Math.round(sync), 0], ["journal_write", start, 300, 4096 * (1 + Math.floor(chance * 7))])
    }
    if (chance > 0.86) rows.push(["read", start + 9000, Math.round(250 + chance * 900), 16_384])
    if (slot % 2400 < 90 && chance > 0.4) rows.push(["run_write", start + 4000, 11_000, 524_288])
    if (slot % 7000 < 300 && chance > 0.5) rows.push(["compaction", start + 6000, 16_000, 524_288])
    if (slot % 3000 < 500 && chance > 0.7) rows.push(["index", start + 3000, 6000, 262_144])
  }
  return rows.reverse().slice(-most)
}

/** Roll-ups in spans of so many seconds. */
export function rollUpsBetween(scenario, n, from, to, span) {
  const rows = []
  const dead = diedAt(scenario, nodes[n].Tag)
  for (let at = Math.floor(from / span) * span; at < Math.min(to, dead ?? to); at += span) {
    const sample = sampleAt(scenario, n, at)
    kinds.forEach((kind, k) => {
      const count = Math.round([sample.SyncsPerSecond, sample.SyncsPerSecond, 5, 0.6, 0.9, 0.7][k] * span)
      const micros = [300, sample.SyncP50Milliseconds * 1000, 700, 11_000, 16_000, 6000][k]
      const bytes = [9000, 0, 16_384, 524_288, 524_288, 262_144][k]
      if (count > 0)
        rows.push([at, kind, count, count * bytes, Math.round(count * micros), Math.round(micros * (3 + 4 * Math.abs(noise(k, at))))])
    })
  }
  return rows
}
