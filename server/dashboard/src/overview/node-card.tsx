import { ago, bytes, celsius, count, duration, lifetime, ratio, room, syncTime } from "../shell/format"
import { type LiveNode, type Sample, secondsSinceHeard } from "../shell/live"
import { Meter } from "../shell/meter"
import { heatTone, powerOf, roleTone } from "../shell/node-words"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { Tag } from "../shell/tag"
import { Find } from "./find"

const HeatFrom = 30
const HeatTo = 85

/** A summary of one node. For a node that is down, shows its last values in grey, and a link to its last hours. */
export function NodeCard({ node }: { node: LiveNode }) {
  const { Sample: sample, State: state } = node
  const isUp = state === "up"
  const isFull = node.SpareBytes != null && node.SpareBytes < 0
  const power = powerOf(sample)
  const seen = secondsSinceHeard(node.Tag)
  const memory = shareOf(sample?.MachineMemoryUsedBytes, sample?.MachineMemoryBytes)
  const disk = diskUsed(sample)
  const isLeading = node.Role === "leader" || node.Role === "alone"
  const unknown = unknownOf(node)
  return (
    <li class={`panel node-card ${state}`}>
      <header>
        <span class={`state-dot ${isUp && isFull ? "full" : state}`} aria-hidden="true" />
        <h2>
          <a href={hrefOf("node", node.Tag)}>{node.Name}</a> <span class="quiet">{node.Tag}</span>
        </h2>
        {isUp ? (
          <>
            {isFull && <Tag tone="bad">card full</Tag>}
            <Tag tone={roleTone(node)}>{node.Role}</Tag>
          </>
        ) : (
          <Tag tone={state === "down" ? "bad" : "quiet"}>{state === "down" ? "off" : "unknown"}</Tag>
        )}
      </header>
      <p class="quiet about">
        {isUp ? (
          <>
            {sample?.Model ?? "Unknown machine"}
            {sample?.IsSimulated && " (simulated)"}
          </>
        ) : seen == null ? (
          "This node has not heard from it since this node started."
        ) : (
          <strong>Last heard {ago(seen)}. These are its last words.</strong>
        )}
      </p>
      <div class="last-words">
        <dl class="card-figures">
          {sample?.TemperatureCelsius != null && (
            <Figure
              label="Temperature"
              value={celsius(sample.TemperatureCelsius)}
              tone={heatTone(sample.TemperatureCelsius)}
              meter={(sample.TemperatureCelsius - HeatFrom) / (HeatTo - HeatFrom)}
              warnFrom={(70 - HeatFrom) / (HeatTo - HeatFrom)}
              badFrom={(80 - HeatFrom) / (HeatTo - HeatFrom)}
            />
          )}
          {sample?.MachineCpuRatio != null && <Figure label="CPU" value={ratio(sample.MachineCpuRatio)} meter={sample.MachineCpuRatio} />}
          {memory !== null && <Figure label="Memory" value={ratio(memory)} meter={memory} warnFrom={0.85} />}
          {disk !== null && <Figure label="Disk" value={ratio(disk)} meter={disk} />}
          {sample && <Figure label="Sync p99, 10 s" value={syncTime(sample, sample.SyncP99Milliseconds)} />}
          {isLeading ? (
            <Figure label="Behind" value="leads" />
          ) : (
            node.LagEntries !== null && <Figure label="Behind" value={node.LagEntries === 0 ? "nothing" : count(node.LagEntries)} />
          )}
        </dl>
        <dl class="card-rows">
          {sample?.Throttled != null && (
            <div>
              <dt>Power</dt>
              <dd class={power.tone === "good" ? "" : power.tone}>{power.text}</dd>
            </div>
          )}
          {sample?.DeviceWrittenBytes != null && (
            <div>
              <dt>Card</dt>
              <dd>
                {bytes(sample.DeviceWrittenBytes)} written
                {sample.LifeUsedRatio != null && `, ${ratio(sample.LifeUsedRatio)} used`}
                {sample.LifeLeftDays != null && (
                  <>
                    <br />
                    <span class="quiet">about {lifetime(sample.LifeLeftDays)} left at this pace</span>
                  </>
                )}
              </dd>
            </div>
          )}
          {node.SpareBytes != null && (
            <div>
              <dt>Room</dt>
              <dd>
                <span class={isFull ? "bad" : ""}>{room(node.SpareBytes)}</span>
                {node.LimitsCapacity && (
                  <>
                    {" "}
                    <Tag tone="accent" title="The cluster can store no more than this node can.">
                      limits the cluster
                    </Tag>
                  </>
                )}
              </dd>
            </div>
          )}
          {sample && (
            <div>
              <dt>{isUp ? "Up" : "Was up"}</dt>
              <dd>
                {duration(sample.UptimeSeconds)} <span class="quiet">with {sample.Version}</span>
              </dd>
            </div>
          )}
        </dl>
        {sample && unknown.length > 0 && <p class="quiet unknown-figures">Unknown: {unknown.join(", ")}.</p>}
      </div>
      {sample && isUp && !sample.Ready && (
        <p class="not-ready">
          <strong>Not ready.</strong> {sample.Reason}
        </p>
      )}
      {isUp && (
        <p class="unplug">
          <span class="quiet">May I unplug this one?</span>{" "}
          <span>
            <strong class={node.Unplug.MayI ? "good" : "bad"}>{node.Unplug.MayI ? "Yes." : "No."}</strong>{" "}
            {withoutAnswer(node.Unplug.Sentence)}
          </span>
        </p>
      )}
      <div class="actions">
        <a class="button" href={hrefOf("node", node.Tag)}>
          {isUp ? "Details" : "Its last hours"}
        </a>
        <a class="button plain" href={`#/io?node=${encodeURIComponent(node.Tag)}`}>
          IO timeline
        </a>
        {isUp && may("admin") && <Find node={node} />}
      </div>
    </li>
  )
}

/** Returns the names of the values that a node does not report, for one line. Most boards lack a sensor or two. */
export function unknownOf(node: LiveNode): string[] {
  const { Sample: sample } = node
  if (!sample) return []
  const isLeading = node.Role === "leader" || node.Role === "alone"
  const all: [string, unknown][] = [
    ["temperature", sample.TemperatureCelsius],
    ["CPU", sample.MachineCpuRatio],
    ["memory", shareOf(sample.MachineMemoryUsedBytes, sample.MachineMemoryBytes)],
    ["disk", diskUsed(sample)],
    ["power", sample.Throttled],
    ["bytes written to the card", sample.DeviceWrittenBytes],
    ["life left of the card", sample.LifeLeftDays],
    // Only for a node that answers. The present values of other nodes cannot be known.
    ...(node.State === "up"
      ? ([
          ["room", node.SpareBytes],
          ["how far behind", isLeading ? 0 : node.LagEntries],
        ] as [string, unknown][])
      : []),
  ]
  return all.filter(([, value]) => value == null).map(([name]) => name)
}

interface FigureProps {
  label: string
  value: string
  tone?: string
  meter?: number | null | undefined
  warnFrom?: number
  badFrom?: number
}

function Figure({ label, value, tone = "", meter, warnFrom, badFrom }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={`number ${tone}`}>
        {value}
        {meter !== undefined && (
          <Meter ratio={meter} {...(warnFrom === undefined ? {} : { warnFrom })} {...(badFrom === undefined ? {} : { badFrom })} />
        )}
      </dd>
    </div>
  )
}

export function shareOf(part: number | null | undefined, whole: number | null | undefined): number | null {
  return part == null || !whole ? null : part / whole
}

export function diskUsed(sample: Sample | null): number | null {
  return sample?.DiskFreeBytes == null || !sample.DiskSizeBytes ? null : 1 - sample.DiskFreeBytes / sample.DiskSizeBytes
}

/** Removes "yes" or "no" from the sentence, because it is shown before it. */
function withoutAnswer(sentence: string): string {
  return sentence.replace(/^(Yes|No)[.,:]?\s*/, "")
}
