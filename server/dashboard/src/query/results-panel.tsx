import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { CodeEditor } from "../documents/code-editor"
import { readable } from "../documents/document-text"
import { download, StaleSentence } from "../documents/export"
import { highlightJson } from "../documents/highlight"
import { layOut } from "../documents/json-text"
import { bytes, count, milliseconds } from "../shell/format"
import { Button, Choice, Empty, Menu, Panel, sentenceOf, Tag, toast } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { isIndex, type QueryAnswer, type Question } from "./ask-query"
import { type Form, Forms, resultsAs } from "./download-results"
import { ResultsTable } from "./results-table"
import { Timings } from "./timings"

interface ResultsPanelProps {
  database: string
  answer: QueryAnswer & { start: number; of: Question }
  pageSize: number
  isRunning: boolean
  onPage: (start: number) => void
}

/** The results of a query as a table or as JSON, with the index and the timings. */
export function ResultsPanel({ database, answer, pageSize, isRunning, onPage }: ResultsPanelProps) {
  const form = useSignal<"table" | "json">("table")
  const { results, start, total } = answer
  const json = useMemo(
    () => (form.value === "json" ? readable(`[\n${results.map((node) => `  ${layOut(answer.text, node, "  ")}`).join(",\n")}\n]`) : ""),
    [form.value, answer],
  )
  return (
    <Panel
      title={`${count(total)} ${total === 1 ? "result" : "results"}`}
      stale={isRunning}
      actions={
        <>
          {answer.isStale && <Tag tone="warning">stale</Tag>}
          {total > 0 && <Download database={database} of={answer.of} total={total} />}
          <Choice
            label="Show as"
            options={[
              { value: "table", title: "Table" },
              { value: "json", title: "JSON" },
            ]}
            chosen={form.value}
            onChoose={(value) => {
              form.value = value
            }}
          />
        </>
      }
    >
      {answer.isStale && (
        <p class="facts warning">
          The index has not processed all documents yet: the last writes may be missing. With "Wait for the index" the query waits.
        </p>
      )}
      <p class="facts quiet">
        <span>{answer.serverMilliseconds === 0 ? "under 1 ms" : milliseconds(answer.serverMilliseconds)} on the node</span>
        <span>{milliseconds(answer.milliseconds)} with the way there</span>
        <span>{bytes(answer.bytes)}</span>
        <span>
          from{" "}
          {isIndex(answer.index) ? <a href={hrefOf("indexes", database, answer.index)}>{answer.index}</a> : answer.index || "documents"}
        </span>
        {answer.nodeTag && <span>node {answer.nodeTag}</span>}
      </p>
      {answer.timings && <Timings timings={answer.timings} />}
      {results.length === 0 ? (
        <Empty title={total > 0 ? "No more results." : "Nothing was found."} />
      ) : form.value === "table" ? (
        <ResultsTable database={database} answer={answer} />
      ) : (
        <CodeEditor label="Results as JSON" value={json} highlight={highlightJson} readOnly lines={[4, 30]} />
      )}
      {(start > 0 || start + results.length < total) && (
        <div class="pages">
          <span class="quiet number" role="status">
            {results.length === 0 ? "" : `${count(start + 1)}–${count(start + results.length)} of ${count(total)}`}
          </span>
          <Button disabled={start === 0 || isRunning} onClick={() => onPage(Math.max(0, start - pageSize))}>
            Previous
          </Button>
          <Button disabled={start + pageSize >= total || results.length === 0 || isRunning} onClick={() => onPage(start + pageSize)}>
            Next
          </Button>
        </div>
      )}
      {answer.included.length > 0 && (
        <div class="included">
          <h3>Included documents</h3>
          <ul>
            {answer.included.map((id) => (
              <li key={id}>
                <a href={hrefOf("document", database, id)}>{id}</a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  )
}

/** Downloads all results of the query, with progress in a message below. */
function Download({ database, of, total }: { database: string; of: Question; total: number }) {
  const progress = useSignal<number | null>(null)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const run = async (form: Form) => {
    const control = new AbortController()
    running.current = control
    progress.value = 0
    try {
      const { file, isStale } = await resultsAs(
        form,
        { database, query: of.text, parameters: of.parameters, waitSeconds: of.waitSeconds ?? null, prefix: "" },
        ({ documents }) => {
          progress.value = documents
        },
        control.signal,
      )
      control.signal.throwIfAborted()
      download(file, `${database}-results.${form}`)
      const sentence = `${count(progress.value)} results downloaded, ${bytes(file.size)}.`
      if (isStale) toast(`${sentence} ${StaleSentence} Tick "Wait for the index".`, { tone: "bad", seconds: 12 })
      else toast(sentence, { tone: "good" })
    } catch (failure) {
      if (!control.signal.aborted) toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
    } finally {
      progress.value = null
    }
  }
  if (progress.value !== null) {
    return (
      <span class="actions small">
        <span class="number" role="status">
          {count(progress.value)} of {count(total)}
        </span>
        <Button onClick={() => running.current?.abort()}>Stop</Button>
      </span>
    )
  }

  return (
    <Menu label="Download" actions={Forms.map(({ form, title }) => ({ title, onClick: () => run(form) }))}>
      Download
    </Menu>
  )
}
