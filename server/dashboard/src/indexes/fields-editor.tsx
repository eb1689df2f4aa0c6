import { Button } from "../shell/parts"
import { Analyzers, type FieldOptions, type IndexDefinition, NoOptions } from "./definition"

interface FieldsEditorProps {
  fields: Record<string, FieldOptions>
  configuration: Record<string, string>
  mayEdit: boolean
  onChange: (part: Partial<IndexDefinition>) => void
}

const MinGram = "Indexing.Lucene.Analyzers.NGram.MinGram"
const MaxGram = "Indexing.Lucene.Analyzers.NGram.MaxGram"

/** The options of fields: exact, full text, stored. Other fields have the default options. */
export function FieldsEditor({ fields, configuration, mayEdit, onChange }: FieldsEditorProps) {
  const list = Object.entries(fields)
  const put = (next: [string, FieldOptions][]) => onChange({ Fields: Object.fromEntries(next) })
  const set = (at: number, part: Partial<FieldOptions>) =>
    put(list.map(([name, options], other) => [name, other === at ? { ...options, ...part } : options]))
  const usesPieces = list.some(([, options]) => options.Analyzer?.toLowerCase().includes("ngram"))
  return (
    <div class="field">
      <span class="text-name">Options of fields</span>
      {list.length === 0 && <span class="hint">None: each field is searched by its values, ignoring case.</span>}
      {list.length > 0 && (
        <div class="table-frame" role="group" aria-label="Options of fields" tabIndex={0}>
          <table class="table fields-table">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Indexing</th>
                <th scope="col">Analyzer</th>
                <th scope="col">Kept</th>
                <th scope="col">Suggests</th>
                <th scope="col">
                  <span class="unseen">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map(([name, options], at) => (
                <tr key={at}>
                  <td>
                    <input
                      class="input"
                      aria-label="Field"
                      placeholder="__all_fields"
                      spellcheck={false}
                      disabled={!mayEdit}
                      value={name}
                      onChange={(event) => {
                        const renamed = event.currentTarget.value.trim()
                        if (list.every(([other], place) => place === at || other !== renamed))
                          put(list.map(([other, kept], place) => [place === at ? renamed : other, kept]))
                        else event.currentTarget.value = name
                      }}
                    />
                  </td>
                  <td>
                    <select
                      class="input"
                      aria-label={`Indexing of ${name}`}
                      disabled={!mayEdit}
                      value={options.Indexing}
                      onChange={(event) => set(at, { Indexing: event.currentTarget.value as FieldOptions["Indexing"] })}
                    >
                      <option value="Default">without case</option>
                      <option value="Exact">also exactly</option>
                      <option value="Search">by words</option>
                      <option value="No">not, only kept</option>
                    </select>
                  </td>
                  <td>
                    <select
                      class="input"
                      aria-label={`Analyzer of ${name}`}
                      disabled={!mayEdit || options.Indexing !== "Search"}
                      value={options.Analyzer ?? ""}
                      onChange={(event) => set(at, { Analyzer: event.currentTarget.value || null })}
                    >
                      <option value="">usual</option>
                      {[...new Set([...Analyzers, ...(options.Analyzer ? [options.Analyzer] : [])])].map((analyzer) => (
                        <option key={analyzer} value={analyzer}>
                          {analyzer.replace(/Analyzer$/, "")}
                        </option>
                      ))}
                    </select>
                  </td>
                  <td>
                    <input
                      type="checkbox"
                      class="row-tick"
                      aria-label={`Keep values of ${name}`}
                      disabled={!mayEdit}
                      checked={options.Storage === "Yes"}
                      onChange={(event) => set(at, { Storage: event.currentTarget.checked ? "Yes" : "No" })}
                    />
                  </td>
                  <td>
                    <input
                      type="checkbox"
                      class="row-tick"
                      aria-label={`Suggestions of ${name}`}
                      disabled={!mayEdit}
                      checked={options.Suggestions}
                      onChange={(event) => set(at, { Suggestions: event.currentTarget.checked })}
                    />
                  </td>
                  <td class="end">
                    {mayEdit && (
                      <Button
                        kind="plain danger"
                        label={`Remove options of ${name}`}
                        onClick={() => put(list.filter((_, other) => other !== at))}
                      >
                        ✕
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {mayEdit && (
        <div>
          <Button kind="plain" disabled={"" in fields} onClick={() => put([...list, ["", NoOptions]])}>
            Add a field
          </Button>
        </div>
      )}
      {usesPieces && (
        <div class="actions">
          {[MinGram, MaxGram].map((setting) => (
            <label key={setting} class="inline-choice">
              {setting === MinGram ? "Pieces from" : "to letters"}
              <input
                class="input seconds"
                type="number"
                min={1}
                max={16}
                placeholder={setting === MinGram ? "2" : "6"}
                disabled={!mayEdit}
                value={configuration[setting] ?? ""}
                onInput={(event) => {
                  const { [setting]: _, ...rest } = configuration
                  const { value } = event.currentTarget
                  onChange({ Configuration: value === "" ? rest : { ...rest, [setting]: value } })
                }}
              />
            </label>
          ))}
        </div>
      )}
    </div>
  )
}
