import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { curlLine } from "../query/curl"
import { bytes, count } from "../shell/format"
import { Button, Copyable, ErrorSentence, Panel, Progress, toast } from "../shell/parts"
import { session } from "../shell/session"
import { download, type ExportOf, type ExportProgress, exportDocuments, StaleSentence } from "./export"
import { pathOf } from "./store"

interface ExportPanelProps {
  of: ExportOf
  title: string
  total: number | null
  onClose: () => void
}

/** Exports documents to a file, one a line, in the form that an import reads. */
export function ExportPanel({ of, title, total, onClose }: ExportPanelProps) {
  const isPacked = useSignal(true)
  const progress = useSignal<ExportProgress | null>(null)
  const isRunning = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const stopped = useRef<AbortController | null>(null)
  useEffect(() => () => stopped.current?.abort(), [])

  const run = async () => {
    const control = new AbortController()
    stopped.current = control
    isRunning.value = true
    trouble.value = null
    progress.value = { documents: 0, bytes: 0 }
    try {
      const { file, isStale } = await exportDocuments(
        of,
        isPacked.value,
        (next) => {
          progress.value = next
        },
        control.signal,
      )
      control.signal.throwIfAborted()
      download(file, `${of.database}-${new Date().toISOString().slice(0, 10)}.ndjson${isPacked.value ? ".gz" : ""}`)
      const sentence = `${count(progress.value.documents)} documents exported, ${bytes(file.size)}.`
      if (isStale) toast(`${sentence} ${StaleSentence}`, { tone: "bad", seconds: 12 })
      else toast(sentence, { tone: "good" })
    } catch (failure) {
      if (!control.signal.aborted) trouble.value = failure
      progress.value = null
    } finally {
      isRunning.value = false
    }
  }

  const isWhole = of.query === null && of.prefix === ""
  return (
    <Panel
      title={`Export ${title}`}
      actions={
        isRunning.value ? (
          <Button onClick={() => stopped.current?.abort()}>Stop</Button>
        ) : (
          <Button kind="plain" onClick={onClose}>
            Close
          </Button>
        )
      }
    >
      <div class="stack">
        <div class="actions">
          <Button kind="primary" busy={isRunning.value} onClick={() => void run()}>
            Export to a file
          </Button>
          <label class="tick">
            <input
              type="checkbox"
              checked={isPacked.value}
              disabled={isRunning.value}
              onChange={(event) => {
                isPacked.value = event.currentTarget.checked
              }}
            />
            packed with gzip
          </label>
        </div>
        {progress.value && (
          <>
            <Progress
              label={isRunning.value ? "Exporting …" : "Exported"}
              done={progress.value.documents}
              total={isRunning.value ? total : progress.value.documents}
              unit="documents"
            />
            <p class="quiet number">{bytes(progress.value.bytes)} before packing</p>
          </>
        )}
        <ErrorSentence of={trouble.value} />
        {isWhole && (
          <>
            <p class="quiet">The browser saves the file only when it is complete. From a shell, for databases of any size:</p>
            <Copyable
              text={`${curlLine({
                method: "GET",
                url: location.origin + pathOf(of.database, "export"),
                needsToken: session.value?.By !== "open",
                isSecure: session.value?.IsSecure ?? false,
              })} --fail | gzip > ${of.database}.ndjson.gz`}
            />
          </>
        )}
      </div>
    </Panel>
  )
}
