import type { LiveNode, Sample } from "./live"
import type { Tone } from "./tag"

const throttleWords: Record<string, string> = {
  under_voltage: "under-voltage",
  frequency_capped: "frequency capped",
  throttled: "throttled",
  soft_temperature_limit: "soft heat limit",
}

/** Describes a throttling flag of firmware and kernel. */
export function throttleWord(name: string): string {
  return throttleWords[name] ?? name
}

/** Summarises the power state in a word or two: now, earlier, or unknown. */
export function powerOf(sample: Sample | null): { tone: Tone; text: string } {
  const now = sample?.Throttled ?? null
  const before = sample?.ThrottledSinceBoot ?? null
  if (now === null) return { tone: "quiet", text: "unknown" }
  if (now.length > 0) return { tone: "bad", text: now.map(throttleWord).join(", ") }
  if (before === null || before.length === 0) return { tone: "good", text: "steady" }
  return { tone: "warning", text: `steady; since boot: ${before.map(throttleWord).join(", ")}` }
}

export function heatTone(celsius: number | null | undefined): Tone | "" {
  return celsius == null || celsius < 70 ? "" : celsius < 80 ? "warning" : "bad"
}

export function roleTone(node: LiveNode): Tone {
  return node.Role === "leader" ? "accent" : "quiet"
}

/** Returns the colour of a node's lines, by its position in the list of nodes. */
export function nodeColour(nodes: readonly LiveNode[], tag: string): string {
  const at = Math.max(
    0,
    nodes.findIndex((node) => node.Tag === tag),
  )
  return `--node-${(at % 7) + 1}`
}
