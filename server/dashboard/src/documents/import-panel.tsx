import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { bytes, count } from "../shell/format"
import { Button, ErrorSentence, Field, Panel, Progress, Table, toast } from "../shell/parts"
import { send } from "../shell/request"
import type { CsvOptions } from "./csv"
import { collectionOfFile, type ImportState, importFile, isCsv, readAnswer } from "./import"
import { pathOf } from "./store"

const Forms =
  "JSON documents: one a line, one after the other, or in an array. Or CSV with names in its first row. Also packed with gzip. " +
  "A document with an @metadata.@id replaces the stored document with that id."

const Twice = "Documents after it may be stored already. Those with an id are then written again, those without one are stored twice."

/** Imports a file of documents into a database. */
export function ImportPanel({ database, onStored, onClose }: { database: string; onStored: () => void; onClose: () => void }) {
  const state = useSignal<ImportState | null>(null)
  const stage = useSignal<"idle" | "running" | "stopped" | "failed" | "done">("idle")
  const trouble = useSignal<unknown>(null)
  const file = useSignal<File | null>(null)
  const csv = useSignal<CsvOptions>({ collection: "", isTyped: true })
  const stopped = useRef<AbortController | null>(null)
  useEffect(() => () => stopped.current?.abort(), [])

  const run = async (from?: ImportState) => {
    if (!file.value) return
    const control = new AbortController()
    stopped.current = control
    stage.value = "running"
    trouble.value = null
    if (!from) state.value = null
    try {
      const post = async (part: Blob) => {
        const response = await send(pathOf(database, "import"), {
          method: "POST",
          body: part,
          headers: { "Content-Type": "application/x-ndjson" },
          signal: control.signal,
        })
        return readAnswer(await response.text())
      }
      const ended = await importFile(
        file.value,
        post,
        (next) => {
          state.value = next
        },
        control.signal,
        from,
        isCsv(file.value.name) ? csv.value : undefined,
      )
      state.value = ended
      stage.value = "done"
      toast(`${count(ended.stored)} documents imported${badOf(ended)}.`, {
        tone: ended.bad > 0 ? "bad" : "good",
      })
    } catch (failure) {
      stage.value = control.signal.aborted ? "stopped" : "failed"
      if (!control.signal.aborted) trouble.value = failure
    } finally {
      onStored()
    }
  }

  const now = state.value
  const isRunning = stage.value === "running"
  return (
    <Panel
      title={`Import into ${database}`}
      actions={
        isRunning ? (
          <Button onClick={() => stopped.current?.abort()}>Stop</Button>
        ) : (
          <Button kind="plain" onClick={onClose}>
            Close
          </Button>
        )
      }
    >
      <div class="stack">
        <Field label="File" hint={Forms}>
          <input
            class="input"
            type="file"
            accept=".ndjson,.jsonl,.json,.csv,.tsv,.gz,application/x-ndjson,application/gzip,text/csv"
            disabled={isRunning}
            onChange={(event) => {
              file.value = event.currentTarget.files?.[0] ?? null
              csv.value = { ...csv.value, collection: collectionOfFile(file.value?.name ?? "") }
              stage.value = "idle"
              state.value = null
              trouble.value = null
            }}
          />
        </Field>
        {file.value && stage.value === "idle" && isCsv(file.value.name) && <CsvFields options={csv} />}
        {file.value && stage.value === "idle" && (
          <div class="actions">
            <Button kind="primary" onClick={() => void run()}>
              Import {file.value.name} ({bytes(file.value.size)})
            </Button>
          </div>
        )}
        {now && (
          <Progress
            label={stage.value === "done" ? "Imported" : isRunning ? "Importing …" : "Interrupted"}
            done={stage.value === "done" ? now.totalBytes : now.bytes}
            total={now.totalBytes}
            format={bytes}
          />
        )}
        {now && (
          <p role="status" class="number">
            {count(now.stored)} documents stored{badOf(now)}, {count(now.lines)} {now.place}s read.
          </p>
        )}
        <ErrorSentence of={trouble.value} />
        {(stage.value === "failed" || stage.value === "stopped") && now && (
          <div class="actions">
            <Button kind="primary" onClick={() => run(now)}>
              Continue after {now.place} {count(now.lines)}
            </Button>
            <span class="quiet">{Twice}</span>
          </div>
        )}
        {now && now.badLines.length > 0 && (
          <Table
            label={`Bad ${now.place}s`}
            rows={now.badLines}
            keyOf={(row) => row.line}
            columns={[
              { title: now.place === "line" ? "Line" : "Document", cell: (row) => count(row.line), end: true },
              { title: "What is wrong with it", cell: (row) => row.reason },
            ]}
          />
        )}
        {now && now.bad > now.badLines.length && (
          <p class="quiet">
            {count(now.bad - now.badLines.length)} more bad {now.place}s are not listed.
          </p>
        )}
      </div>
    </Panel>
  )
}

/** The options that a CSV file does not contain: the collection, and whether values are typed. */
function CsvFields({ options }: { options: Signal<CsvOptions> }) {
  return (
    <>
      <Field label="Collection" hint="For documents whose row has no column @collection. A column @id has the documents' ids.">
        <input
          class="input"
          autocomplete="off"
          spellcheck={false}
          value={options.value.collection}
          onInput={(event) => {
            options.value = { ...options.value, collection: event.currentTarget.value.trim() }
          }}
        />
      </Field>
      <label class="tick">
        <input
          type="checkbox"
          checked={options.value.isTyped}
          onChange={(event) => {
            options.value = { ...options.value, isTyped: event.currentTarget.checked }
          }}
        />
        Import columns of numbers, of true and false, or of JSON as such; quoted values stay texts
      </label>
    </>
  )
}

function badOf({ bad, place }: ImportState): string {
  return bad === 0 ? "" : `, ${count(bad)} bad ${place}${bad === 1 ? "" : "s"} left out`
}
