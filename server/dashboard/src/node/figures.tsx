import type { ComponentChildren } from "preact"
import { bytes, celsius, count, duration, lifetime, milliseconds, offset, perSecond, ratio, room, syncTime } from "../shell/format"
import type { LiveNode } from "../shell/live"
import { powerOf, throttleWord } from "../shell/node-words"

/** All values that a node reports. */
export function Figures({ node }: { node: LiveNode }) {
  const of = node.Sample
  if (!of) return <p class="quiet">Nothing is known about this node yet.</p>
  const groups: [string, [string, ComponentChildren][]][] = [
    [
      "Machine",
      [
        ["Model", `${of.Model ?? "unknown"}${of.IsSimulated ? " (simulated)" : ""}`],
        ["Temperature", celsius(of.TemperatureCelsius)],
        ["Power", powerOf(of).text],
        [
          "Throttled since boot",
          of.ThrottledSinceBoot === null ? "unknown" : of.ThrottledSinceBoot.map(throttleWord).join(", ") || "never",
        ],
        ["Background work may take", of.BackgroundShareRatio === null ? "unknown" : `${ratio(of.BackgroundShareRatio)} of a core`],
        ["CPU of the machine", ratio(of.MachineCpuRatio)],
        ["CPU of Rookery", of.ProcessCpuCores === null ? "unknown" : `${of.ProcessCpuCores.toFixed(2)} cores`],
        ["Memory of the machine", `${bytes(of.MachineMemoryUsedBytes)} of ${bytes(of.MachineMemoryBytes)}`],
        ["Memory of Rookery", `${bytes(of.ResidentBytes)}, bound ${bytes(of.MemoryBudgetBytes)}`],
        ["Clock ahead by", offset(of.ClockAheadSeconds)],
        ["Clock follows a source of time", of.IsClockSynchronised === null ? "unknown" : of.IsClockSynchronised ? "yes" : "no"],
      ],
    ],
    [
      "Disk",
      [
        ["Free", `${bytes(of.DiskFreeBytes)} of ${bytes(of.DiskSizeBytes)}`],
        ["Kept in reserve", bytes(of.DiskReserveBytes)],
        ["Room for more", room(node.SpareBytes)],
        ["Written to the device", bytes(of.DeviceWrittenBytes)],
        ["Being written", of.DeviceWrittenBytesPerSecond === null ? "unknown" : `${bytes(of.DeviceWrittenBytesPerSecond)}/s`],
        ["Life used", ratio(of.LifeUsedRatio)],
        ["Life left at this pace", lifetime(of.LifeLeftDays)],
        ["Syncs", perSecond(of.SyncsPerSecond)],
        ["Sync p50, 10 s", syncTime(of, of.SyncP50Milliseconds)],
        ["Sync p99, 10 s", syncTime(of, of.SyncP99Milliseconds)],
        ["Journal", of.JournalBytesPerSecond === null ? "unknown" : `${bytes(of.JournalBytesPerSecond)}/s`],
      ],
    ],
    [
      "Requests",
      [
        ["Requests", perSecond(of.RequestsPerSecond)],
        ["Reads", perSecond(of.ReadsPerSecond)],
        ["Writes", perSecond(of.WritesPerSecond)],
        ["Read p50, p99", `${milliseconds(of.ReadP50Milliseconds)}, ${milliseconds(of.ReadP99Milliseconds)}`],
        ["Write p50, p99", `${milliseconds(of.WriteP50Milliseconds)}, ${milliseconds(of.WriteP99Milliseconds)}`],
        ["Commands waiting", count(of.QueuedCommands)],
      ],
    ],
    [
      "Data",
      [
        ["Documents", count(of.Documents)],
        ["Sequence", count(of.Sequence)],
        ["Log: applied, committed, last", `${count(of.AppliedIndex)}, ${count(of.CommitIndex)}, ${count(of.LastIndex)}`],
        ["Behind the leader by", node.LagEntries === null ? "unknown" : `${count(node.LagEntries)} entries`],
        ["Indexes behind", count(of.IndexesStale)],
        ["Documents that indexes have left", count(of.IndexDocumentsLeft)],
        ["Documents that indexes did not take", count(of.IndexErrors)],
        ["Last backup", of.BackupAgeSeconds === null ? "none known" : `${duration(of.BackupAgeSeconds)} ago`],
      ],
    ],
    [
      "Program",
      [
        ["Version", of.Version],
        ...(of.ImageRelease ? [["Image", of.ImageRelease] as [string, string]] : []),
        ["Up for", duration(of.UptimeSeconds)],
        ["Ready", of.Ready ? "yes" : `no: ${of.Reason ?? "unknown why"}`],
        ["Certificate holds for", of.CertificateDaysLeft === null ? "unknown" : `${Math.floor(of.CertificateDaysLeft)} days`],
        ["Address", node.Url ?? "unknown"],
      ],
    ],
  ]
  return (
    <div class="figure-groups">
      {groups.map(([title, figures]) => (
        <div key={title}>
          <h3>{title}</h3>
          <dl class="figures">{figures.map(([name, value]) => isKnown(value) && <Pair key={name} name={name} value={value} />)}</dl>
          <Unknown names={figures.filter(([, value]) => !isKnown(value)).map(([name]) => name)} />
        </div>
      ))}
    </div>
  )
}

/** Whether a value says something: "unknown of unknown" does not. */
function isKnown(value: ComponentChildren): boolean {
  return typeof value !== "string" || value.replace(/unknown|of|bound|[,\s]/g, "") !== ""
}

function Unknown({ names }: { names: readonly string[] }) {
  return names.length === 0 ? null : <p class="quiet unknown-figures">Unknown: {names.join(", ")}.</p>
}

function Pair({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
