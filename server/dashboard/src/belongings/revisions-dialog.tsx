import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { DiffTable } from "../documents/diff-table"
import type { StoredDocument } from "../documents/document-text"
import { Button, Confirm, Dialog, ErrorSentence, toast } from "../shell/parts"
import { type ListedRevision, namesOf, readRevision, restoreRevision } from "./revisions"

interface RevisionsDialogProps {
  database: string
  id: string
  /** The revisions to choose from, newest first. */
  revisions: readonly ListedRevision[]
  /** Change vector of the document; null if it does not exist. */
  present: string | null
  /** The revision that is shown first. */
  chosen: string
  mayWrite: boolean
  /** Whether the user has changes of the document that are not saved. */
  isChanged: boolean
  onRestored: () => Promise<unknown>
  onClose: () => void
}

/** Compares two revisions of a document, and restores one of them. */
export function RevisionsDialog({ database, id, revisions, present, chosen, ...rest }: RevisionsDialogProps) {
  const { mayWrite, isChanged, onRestored, onClose } = rest
  const newest = revisions.find((one) => !one.isDeletion)
  const left = useSignal(chosen)
  const right = useSignal(newest?.changeVector ?? chosen)
  const isAsking = useSignal(false)
  const texts = useSignal<ReadonlyMap<string, StoredDocument | null>>(new Map())
  const trouble = useSignal<unknown>(null)
  const wanted = [...new Set([left.value, right.value])]
  const tries = useSignal(0)
  useEffect(() => {
    const missing = wanted.filter((one) => !texts.peek().has(one))
    if (missing.length === 0) return
    const leaving = new AbortController()
    Promise.all(missing.map(async (one) => [one, await readRevision(database, one, leaving.signal)] as const)).then(
      (read) => {
        texts.value = new Map([...texts.peek(), ...read])
        trouble.value = null
      },
      (failure) => {
        if (!leaving.signal.aborted) trouble.value = failure
      },
    )
    return () => leaving.abort()
  }, [wanted.join(), tries.value])

  const [old, now] = [texts.value.get(left.value), texts.value.get(right.value)]
  const shown = revisions.find((one) => one.changeVector === left.value)
  const names = namesOf(revisions)
  const timeOf = (changeVector: string) => names.get(changeVector) ?? ""
  const isPresent = left.value === present
  const choice = (label: string, value: typeof left) => (
    <label class="revision-choice">
      <span>{label}</span>
      <select
        class="input"
        value={value.value}
        onChange={(event) => {
          value.value = event.currentTarget.value
        }}
      >
        {revisions.map((one) => (
          <option key={one.changeVector} value={one.changeVector}>
            {timeOf(one.changeVector)}
            {one.changeVector === present ? ", present" : one.isDeletion ? ", deleted" : ""}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <Dialog
      title={`Revisions of ${id}`}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          {mayWrite && (
            <Button
              kind="primary"
              disabled={!old || isPresent || (shown?.isDeletion ?? true)}
              onClick={() => {
                isAsking.value = true
              }}
            >
              Restore the one of {timeOf(left.value)}
            </Button>
          )}
        </>
      }
    >
      <div class="revision-choices">
        {choice("From", left)}
        {choice("to", right)}
      </div>
      <ErrorSentence of={trouble.value} retry={() => tries.value++} />
      {old === null || now === null ? (
        <p>{timeOf(old === null ? left.value : right.value)} was removed meanwhile.</p>
      ) : old === undefined || now === undefined ? (
        trouble.value === null && (
          <p class="quiet" role="status">
            Loading …
          </p>
        )
      ) : left.value === right.value ? (
        <pre class="revision-text" tabIndex={0} aria-label="The revision">
          {shown?.isDeletion ? "The document was deleted." : old.text}
        </pre>
      ) : (
        <DiffTable
          left={old.text}
          right={now.text}
          leftName={timeOf(left.value)}
          rightName={timeOf(right.value)}
          same="Both have the same content, attachments and counters."
        />
      )}
      {isAsking.value && (
        <Confirm
          title={`Restore ${id} as of ${timeOf(left.value)}?`}
          verb="Restore"
          onConfirm={async () => {
            await restoreRevision(database, id, left.value, present)
            toast(`${id} is as it was at ${timeOf(left.value)}.`, { tone: "good" })
            onClose()
            await onRestored()
          }}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>
            {present === null
              ? "The document exists again, with the content, attachments and counters of this revision."
              : "The document gets the content, attachments and counters of this revision, as a new version."}
            {isChanged && " Your changes that are not saved are lost."}
          </p>
        </Confirm>
      )}
    </Dialog>
  )
}
