import { milliseconds } from "../shell/format"

const Words: Record<string, string> = {
  Parser: "reading the query",
  Index: "choosing and waiting for the index",
  Query: "finding",
  Results: "writing the results",
}

/** The time of each part of a query, as one bar. */
export function Timings({ timings }: { timings: { part: string; milliseconds: number }[] }) {
  const total = timings.reduce((sum, timing) => sum + timing.milliseconds, 0)
  return (
    <div class="timings">
      {total > 0 && (
        <div class="timings-bar" aria-hidden="true">
          {timings.map((timing, at) => (
            <span key={timing.part} class={`part-${at % 4}`} style={{ flexGrow: timing.milliseconds / total }} />
          ))}
        </div>
      )}
      <ul>
        {timings.map((timing, at) => (
          <li key={timing.part}>
            <span class={`swatch part-${at % 4}`} aria-hidden="true" />
            {Words[timing.part] ?? timing.part}{" "}
            <span class="number">{timing.milliseconds === 0 ? "under 1 ms" : milliseconds(timing.milliseconds)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
