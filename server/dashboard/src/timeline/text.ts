import { bytes } from "../shell/format"

/** Formats a duration with three significant digits. */
export function durationText(microseconds: number): string {
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`
  if (microseconds < 1_000_000) return `${figures(microseconds / 1000)} ms`
  if (microseconds < 120_000_000) return `${figures(microseconds / 1_000_000)} s`
  return microseconds < 7_200_000_000 ? `${figures(microseconds / 60_000_000)} min` : `${figures(microseconds / 3_600_000_000)} h`
}

/** Formats a rate: bytes transferred in a duration. */
export function speedText(moved: number, microseconds: number): string {
  return microseconds > 0 ? `${bytes((moved * 1_000_000) / microseconds)}/s` : ""
}

/** Formats the time of day in this browser's time zone, as precisely as the step requires. */
export function timeText(microseconds: number, stepMicroseconds: number): string {
  const date = new Date(microseconds / 1000)
  const two = (value: number) => String(value).padStart(2, "0")
  if (stepMicroseconds >= 86_400_000_000) return `${two(date.getDate())}.${two(date.getMonth() + 1)}.`
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`
  if (stepMicroseconds >= 60_000_000) return minutes
  const seconds = `${minutes}:${two(date.getSeconds())}`
  if (stepMicroseconds >= 1_000_000) return seconds
  const fraction = String(((Math.round(microseconds) % 1_000_000) + 1_000_000) % 1_000_000).padStart(6, "0")
  return stepMicroseconds >= 1000 ? `${seconds}.${fraction.slice(0, 3)}` : `${seconds}.${fraction.slice(0, 3)} ${fraction.slice(3)}`
}

/** Formats the fraction of a second, for ticks closer than a second: ".123" or ".123 456". */
export function fractionText(microseconds: number, stepMicroseconds: number): string {
  const text = timeText(microseconds, stepMicroseconds)
  return stepMicroseconds >= 1_000_000 ? text : text.slice(text.indexOf("."))
}

function figures(value: number): string {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : String(Math.round(value))
}
