export interface Options {
  timings: boolean
  waits: boolean
  seconds: number
}

/** The options of a query. */
export function QueryOptions({ options, onChange }: { options: Options; onChange: (next: Options) => void }) {
  return (
    <fieldset class="query-options">
      <legend class="unseen">Options</legend>
      <label class="tick">
        <input
          type="checkbox"
          checked={options.timings}
          onChange={(event) => onChange({ ...options, timings: event.currentTarget.checked })}
        />
        Timings
      </label>
      <label class="tick" title="Waits until the index has processed all documents that are written now">
        <input type="checkbox" checked={options.waits} onChange={(event) => onChange({ ...options, waits: event.currentTarget.checked })} />
        Wait for the index
      </label>
      {options.waits && (
        <label class="tick">
          <input
            class="input seconds"
            type="number"
            min={1}
            max={3600}
            value={options.seconds}
            onInput={(event) => onChange({ ...options, seconds: Math.min(3600, Math.max(1, event.currentTarget.valueAsNumber || 1)) })}
          />
          s at most
        </label>
      )}
    </fieldset>
  )
}
