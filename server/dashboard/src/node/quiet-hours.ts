const MinutesOfDay = 24 * 60

/**
 * Moves a time of the day, as `21:30`, by minutes. A node keeps quiet hours in UTC; `-offset` of the browser's clock
 * leads to the user's time, `offset` back.
 */
export function moved(time: string, minutes: number): string {
  const [hours = 0, rest = 0] = time.split(":").map(Number)
  const all = (((hours * 60 + rest + minutes) % MinutesOfDay) + MinutesOfDay) % MinutesOfDay
  return `${`${Math.floor(all / 60)}`.padStart(2, "0")}:${`${all % 60}`.padStart(2, "0")}`
}

/** Returns the minutes by which UTC differs from the user's time now, as browsers have it. */
export const offsetNow = (): number => new Date().getTimezoneOffset()
