/** What a person reads. Null is said as a word: an unknown figure is no zero. */
const Unknown = "unknown"

export function bytes(value: number | null | undefined): string {
  if (value == null) return Unknown
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
  let unit = 0
  let scaled = Math.abs(value)
  // What would be rounded to 1,024 of a unit is one of the next.
  while (scaled >= 1023.5 && unit < units.length - 1) {
    scaled /= 1024
    unit++
  }

  const said = unit > 0 && scaled < 99.95 ? scaled.toFixed(1) : `${Math.round(scaled)}`
  return `${value < 0 && said !== "0" ? "−" : ""}${said} ${units[unit]}`
}

/** How much more a card takes: what is below its reserve is no room. */
export function room(spare: number | null | undefined): string {
  return spare != null && spare < 0 ? `none: ${bytes(-spare)} below its reserve` : bytes(spare)
}

export function milliseconds(value: number | null | undefined): string {
  if (value == null) return Unknown
  // What would be rounded to a thousand of a unit is one of the next.
  return value < 0.9995
    ? `${Math.round(value * 1000)} µs`
    : value < 9.95
      ? `${value.toFixed(1)} ms`
      : value < 999.5
        ? `${Math.round(value)} ms`
        : `${(value / 1000).toFixed(1)} s`
}

/** A figure beside an axis, where whole ones stand below each other: "5 ms", not "5.0 ms" above "10 ms". */
export function tick(said: string): string {
  return said.replace(/\.0(?= |$)/, "")
}

export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return Unknown
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** By how much a clock is off. */
export function offset(seconds: number | null | undefined): string {
  if (seconds == null) return Unknown
  const size = Math.abs(seconds)
  return `${seconds < 0 ? "−" : ""}${size < 60 ? `${Number(size.toFixed(size < 1 ? 3 : 1))} s` : duration(size)}`
}

/** A number of a document as people read it: what a sum of binary fractions has behind its fifteenth digit is noise. */
export function figure(text: string): string {
  return text.includes(".") && text.replace(/[^\d]/g, "").length > 15 ? String(Number(Number(text).toPrecision(15))) : text
}

export function count(value: number | null | undefined): string {
  if (value == null) return Unknown
  // Not by Intl: with the processor slowed six times its first uses were half of the 0.23 s in which the first cards were drawn.
  return Math.abs(value) < 10 ? `${Math.round(value * 10) / 10}` : `${Math.round(value)}`.replace(/\B(?=(\d{3})+$)/g, ",")
}

export function ratio(value: number | null | undefined): string {
  return value == null ? Unknown : `${value < 0.1 ? (value * 100).toFixed(1) : Math.round(value * 100)} %`
}

export function celsius(value: number | null | undefined): string {
  return value == null ? Unknown : `${Math.round(value)} °C`
}

/** "3 min ago" of something that happened so many seconds ago. */
export function ago(seconds: number | null | undefined): string {
  return seconds == null ? Unknown : seconds < 2 ? "now" : `${duration(seconds)} ago`
}

export function perSecond(value: number | null | undefined): string {
  return value == null ? Unknown : `${count(value)}/s`
}

/** How long a card will last: nobody knows it to the day. */
export function lifetime(days: number | null | undefined): string {
  if (days == null) return Unknown
  if (days < 60) return `${Math.round(days)} days`
  return days < 730 ? `${Math.round(days / 30.4)} months` : days < 36_500 ? `${Math.round(days / 365)} years` : "over 100 years"
}

/** A moment in the reader's own time zone, to the second; of today without the date. */
export function moment(time: string | number | Date): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return Unknown
  const clock = at.toLocaleTimeString("en-GB")
  return at.toDateString() === new Date().toDateString() ? clock : `${at.toLocaleDateString("en-CA")} ${clock}`
}
