/** Texts for people. Null becomes a word, because an unknown value is not zero. */
const Unknown = "unknown"

export function bytes(value: number | null | undefined): string {
  if (value == null) return Unknown
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
  let unit = 0
  let scaled = Math.abs(value)
  // A value that would be rounded to 1,024 of a unit is shown in the next unit.
  while (scaled >= 1023.5 && unit < units.length - 1) {
    scaled /= 1024
    unit++
  }

  const said = unit > 0 && scaled < 99.95 ? scaled.toFixed(1) : `${Math.round(scaled)}`
  return `${value < 0 && said !== "0" ? "−" : ""}${said} ${units[unit]}`
}

/** Formats how much more a disk can store: its free space beyond the reserve. */
export function room(spare: number | null | undefined): string {
  return spare != null && spare < 0 ? `none: ${bytes(-spare)} below its reserve` : bytes(spare)
}

/** Returns a format for the values of an axis whose largest value is `top`. All values get the unit of the largest. */
export type Axis = (top: number) => (value: number) => string

export const millisecondsAxis: Axis = (top) => {
  const [unit, size] = top < 0.9995 ? ["µs", 0.001] : top < 999.5 ? ["ms", 1] : ["s", 1000]
  return (value) => `${Number((value / (size as number)).toPrecision(3))} ${unit}`
}

export const bytesAxis: Axis = (top) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
  const power = top < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(top) / 10))
  return (value) => `${Number((value / 1024 ** power).toPrecision(3))} ${units[power]}`
}

export function milliseconds(value: number | null | undefined): string {
  if (value == null) return Unknown
  // A value that would be rounded to 1,000 of a unit is shown in the next unit.
  return value < 0.9995
    ? `${Math.round(value * 1000)} µs`
    : value < 9.95
      ? `${value.toFixed(1)} ms`
      : value < 999.5
        ? `${Math.round(value)} ms`
        : `${(value / 1000).toFixed(1)} s`
}

/** Formats how long the syncs of the last ten seconds took: "idle" if there were none. */
export function syncsTook(value: number | null | undefined): string {
  return value == null ? "idle" : milliseconds(value)
}

/** Does the same as {@link syncsTook}, but returns "unknown" if the node has no sample yet. */
export function syncTime(sample: object | null | undefined, value: number | null | undefined): string {
  return sample == null ? milliseconds(null) : syncsTook(value)
}

/** Shortens a value for an axis: "5 ms", not "5.0 ms" above "10 ms". */
export function tick(said: string): string {
  return said.replace(/\.0(?= |$)/, "")
}

export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return Unknown
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** Formats the deviation of a clock. */
export function offset(seconds: number | null | undefined): string {
  if (seconds == null) return Unknown
  const size = Math.abs(seconds)
  return `${seconds < 0 ? "−" : ""}${size < 60 ? `${Number(size.toFixed(size < 1 ? 3 : 1))} s` : duration(size)}`
}

/**
 * Formats a number of a document with at most fifteen digits: further digits of a sum of binary fractions are noise.
 */
export function figure(text: string): string {
  return text.includes(".") && text.replace(/[^\d]/g, "").length > 15 ? String(Number(Number(text).toPrecision(15))) : text
}

export function count(value: number | null | undefined): string {
  if (value == null) return Unknown
  // Not by Intl: with the processor slowed six times, its first use took half of the 0.23 s in which the first cards
  // were drawn.
  return Math.abs(value) < 10 ? `${Math.round(value * 10) / 10}` : `${Math.round(value)}`.replace(/\B(?=(\d{3})+$)/g, ",")
}

export function ratio(value: number | null | undefined): string {
  return value == null ? Unknown : `${value < 0.1 ? (value * 100).toFixed(1) : Math.round(value * 100)} %`
}

export function celsius(value: number | null | undefined): string {
  return value == null ? Unknown : `${Math.round(value)} °C`
}

/** Formats the age of an event in seconds: "3 min ago". */
export function ago(seconds: number | null | undefined): string {
  return seconds == null ? Unknown : seconds < 2 ? "now" : `${duration(seconds)} ago`
}

export function perSecond(value: number | null | undefined): string {
  return value == null ? Unknown : `${count(value)}/s`
}

/** Formats the expected remaining life of a card, coarsely. */
export function lifetime(days: number | null | undefined): string {
  if (days == null) return Unknown
  if (days < 60) return `${Math.round(days)} days`
  return days < 730 ? `${Math.round(days / 30.4)} months` : days < 36_500 ? `${Math.round(days / 365)} years` : "over 100 years"
}

/** Formats a time in the user's time zone, to the second. Omits the date of today. */
export function moment(time: string | number | Date): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return Unknown
  const clock = at.toLocaleTimeString("en-GB")
  return at.toDateString() === new Date().toDateString() ? clock : `${at.toLocaleDateString("en-CA")} ${clock}`
}
