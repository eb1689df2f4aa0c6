import { milliseconds } from "../shell/format"

const Words: Record<string, string> = {
  Parser: "reading the query",
  Index: "choosing and waiting for the index",
  Query: "finding",
  Results: "writing the results",
}

/** The time of each part of a query, as one bar. */
export function Timings({ timings }: { timings: { part: string; milliseconds: number }[] }) {
  const total = timings.reduce((sum, one) => sum + one.milliseconds, 0)
  return (
    <div class="timings">
      {total > 0 && (
        <div class="timings-bar" aria-hidden="true">
          {timings.map((one, at) => (
            <span key={one.part} class={`part-${at % 4}`} style={{ flexGrow: one.milliseconds / total }} />
          ))}
        </div>
      )}
      <ul>
        {timings.map((one, at) => (
          <li key={one.part}>
            <span class={`swatch part-${at % 4}`} aria-hidden="true" />
            {Words[one.part] ?? one.part}{" "}
            <span class="number">{one.milliseconds === 0 ? "under 1 ms" : milliseconds(one.milliseconds)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
