import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { documentOf } from "../documents/document-text"
import { pathOf } from "../documents/store"
import { count } from "../shell/format"
import { Button, Confirm, ErrorSentence, Field, Panel, Progress, toast } from "../shell/parts"
import { ask, Refusal } from "../shell/request"
import { askQuery, bodyOf } from "./ask-query"
import { limitOf, withoutUpdate } from "./rql-text"

interface ChangeByQueryProps {
  database: string
  /** The requested change; null for none. */
  kind: "delete" | "patch" | null
  text: string
  parameters: string
  onClose: () => void
}

interface OperationState {
  Status: "InProgress" | "Completed" | "Canceled" | "Faulted"
  Progress: { Total: number; Processed: number }
  Result: { Message?: string } | null
}

interface Running {
  id: number
  node: string
  kind: "delete" | "patch"
  state: OperationState | null
}

const AskAgainMilliseconds = 500
// Time to wait for a stale index, so that the current documents are counted.
const PatienceSeconds = 15
const Named = 4

/**
 * Deletes or patches the documents that a query finds: counts them, asks for the database's name, and shows the
 * progress.
 */
export function ChangeByQuery({ database, kind, text, parameters, onClose }: ChangeByQueryProps) {
  const preview = useSignal<{ count: number; ids: string[] } | null>(null)
  const trouble = useSignal<unknown>(null)
  const running = useSignal<Running | null>(null)
  const mostPerSecond = useSignal("")
  useEffect(() => {
    preview.value = null
    trouble.value = null
    if (kind === null) return
    const query = withoutUpdate(text)
    const leaving = new AbortController()
    askQuery(database, { text: query, parameters, start: 0, pageSize: Named, waitSeconds: PatienceSeconds }, leaving.signal).then(
      (answer) => {
        const limit = limitOf(query)
        const left = limit ? Math.min(Math.max(answer.total - limit.skip, 0), limit.take) : answer.total
        preview.value = { count: left, ids: answer.results.map((node) => documentOf(answer.text, node).id) }
      },
      (failure) => {
        if (!leaving.signal.aborted) trouble.value = failure
      },
    )
    return () => leaving.abort()
  }, [kind])

  const start = async (what: "delete" | "patch") => {
    const body = bodyOf({ text, parameters })
    const { OperationId, OperationNodeTag } = await ask<{ OperationId: number; OperationNodeTag: string }>(
      pathOf(database, "queries", { maxOpsPerSec: mostPerSecond.value || undefined }),
      {
        method: what === "delete" ? "DELETE" : "PATCH",
        body: what === "delete" ? body : `{"Query":${body}}`,
      },
    )
    running.value = { id: OperationId, node: OperationNodeTag, kind: what, state: null }
  }

  const verb = kind === "delete" ? "Delete" : "Patch"
  const found = preview.value
  return (
    <>
      {kind !== null && (
        <Confirm
          title={`${verb} what this query finds?`}
          verb={`${verb} ${found ? count(found.count) : ""}`}
          danger
          name={database}
          onConfirm={() => start(kind)}
          onClose={onClose}
        >
          <ErrorSentence of={trouble.value} />
          {found ? (
            <p>
              <strong>{documents(found.count)}</strong>
              {found.ids.length > 0 && `: ${found.ids.join(", ")}${found.count > found.ids.length ? " …" : ""}`}.{" "}
              {kind === "delete" ? "They are deleted" : "They are changed"} in batches, each document in its state at that time. This cannot
              be undone.
            </p>
          ) : (
            !trouble.value && <p class="quiet">Counting …</p>
          )}
          <pre class="asked-query">{text}</pre>
          <Field label="Documents a second, at most" hint="Empty: as fast as the node can. A limit slows down other requests less.">
            <input
              class="input seconds"
              type="number"
              min={1}
              value={mostPerSecond.value}
              onInput={(event) => {
                mostPerSecond.value = event.currentTarget.value
              }}
            />
          </Field>
        </Confirm>
      )}
      {running.value && (
        <OperationPanel
          key={running.value.id}
          database={database}
          running={running.value}
          onClose={() => {
            running.value = null
          }}
        />
      )}
    </>
  )
}

function OperationPanel({ database, running, onClose }: { database: string; running: Running; onClose: () => void }) {
  const state = useSignal<OperationState | null>(running.state)
  const trouble = useSignal<unknown>(null)
  // Whether the node does not know the operation, for example because it was restarted.
  const isUnknown = useSignal(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const leaving = new AbortController()
    const look = async () => {
      try {
        const now = await ask<OperationState>(pathOf(database, "operations/state", { id: running.id }), { signal: leaving.signal })
        if (leaving.signal.aborted) return
        state.value = now
        trouble.value = null
        if (now.Status !== "InProgress") {
          tell(now)
          return
        }
      } catch (failure) {
        if (leaving.signal.aborted) return
        trouble.value = failure
        isUnknown.value = failure instanceof Refusal && (failure.status === 400 || failure.status === 404)
        if (isUnknown.value) return
      }

      if (!leaving.signal.aborted) timer = setTimeout(look, AskAgainMilliseconds)
    }
    const tell = (now: OperationState) => {
      const done = `${documents(now.Progress.Processed)} ${running.kind === "delete" ? "deleted" : "patched"}.`
      toast(now.Status === "Completed" ? done : `${now.Status === "Canceled" ? "Stopped" : "Failed"}: ${done}`, {
        tone: now.Status === "Completed" ? "good" : "bad",
      })
    }
    void look()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [])
  const now = state.value
  const isRunning = !isUnknown.value && (now === null || now.Status === "InProgress")
  const Said = {
    InProgress: "Running",
    Completed: "Done",
    Canceled: "Stopped: the changes so far remain",
    Faulted: "Failed: the changes so far remain",
  }
  return (
    <Panel
      title={running.kind === "delete" ? "Deleting by query" : "Patching by query"}
      actions={
        isRunning ? (
          <Button
            kind="danger"
            onClick={() =>
              ask(pathOf(database, "operations/kill", { id: running.id }), { method: "POST" }).catch((failure) => (trouble.value = failure))
            }
          >
            Stop
          </Button>
        ) : (
          <Button kind="plain" onClick={onClose}>
            Close
          </Button>
        )
      }
    >
      <Progress
        label={isUnknown.value ? "Ended: it is not known how. The changes so far remain" : Said[now?.Status ?? "InProgress"]}
        done={now?.Progress.Processed ?? 0}
        total={now && (now.Progress.Total > 0 || !isRunning) ? now.Progress.Total : null}
        unit="documents"
      />
      {isRunning && <p class="quiet">It continues on node {running.node} if you leave this page.</p>}
      <ErrorSentence of={now?.Result?.Message ?? trouble.value} />
    </Panel>
  )
}

function documents(many: number): string {
  return `${count(many)} ${many === 1 ? "document" : "documents"}`
}
