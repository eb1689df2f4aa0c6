import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { StoredDocument } from "../documents/document-text"
import { count } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, ErrorSentence, Panel, Tag } from "../shell/parts"
import { type ListedRevision, listRevisions, namesOf, RevisionsOfPage } from "./revisions"
import { RevisionsDialog } from "./revisions-dialog"

interface RevisionsPanelProps {
  database: string
  stored: StoredDocument
  mayWrite: boolean
  isChanged: boolean
  onRestored: () => Promise<unknown>
}

/** The revisions of a document that has some, newest first. Each opens a comparison. */
export function RevisionsPanel({ database, stored, mayWrite, isChanged, onRestored }: RevisionsPanelProps) {
  const revisions = useSignal<ListedRevision[] | null>(null)
  const total = useSignal(0)
  const trouble = useSignal<unknown>(null)
  const chosen = useSignal<string | null>(null)
  const leaving = useLeaving()
  const read = async (start: number, signal: AbortSignal) => {
    try {
      const found = await listRevisions(database, stored.id, start, signal)
      // New revisions shift the pages, so that the last ones of a page may come again.
      const known = start === 0 ? [] : (revisions.value ?? [])
      const isKnown = new Set(known.map((one) => one.changeVector))
      revisions.value = [...known, ...found.revisions.filter((one) => !isKnown.has(one.changeVector))]
      total.value = found.total
      trouble.value = null
    } catch (failure) {
      if (!signal.aborted) trouble.value = failure
    }
  }
  useEffect(() => {
    const changed = new AbortController()
    void read(0, changed.signal)
    return () => changed.abort()
  }, [stored])
  const shown = revisions.value ?? []
  const names = namesOf(shown)
  return (
    <Panel title={`Revisions${revisions.value ? ` (${count(total.value)})` : ""}`}>
      <ErrorSentence of={trouble.value} retry={() => read(0, leaving)} />
      {revisions.value === null && trouble.value === null && (
        <p class="quiet" role="status">
          Loading …
        </p>
      )}
      {revisions.value?.length === 0 && <p class="quiet small">They were removed.</p>}
      {shown.length > 0 && (
        <ul class="belongings">
          {shown.map((one) => (
            <li key={one.changeVector}>
              <button
                type="button"
                class="as-link"
                onClick={() => {
                  chosen.value = one.changeVector
                }}
              >
                <time dateTime={one.lastModified}>{names.get(one.changeVector)}</time>
              </button>
              <span>
                {one.changeVector === stored.changeVector && <Tag tone="accent">present</Tag>}
                {one.isDeletion && <Tag>deleted</Tag>}
                {one.isForced && <Tag title="Kept on demand, whatever the configuration says">kept</Tag>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {shown.length > 0 && shown.length < total.value && (
        <Button kind="plain" onClick={() => read(shown.length, leaving)}>
          {count(Math.min(RevisionsOfPage, total.value - shown.length))} older ones
        </Button>
      )}
      {chosen.value !== null && (
        <RevisionsDialog
          database={database}
          id={stored.id}
          revisions={shown}
          present={stored.changeVector}
          chosen={chosen.value}
          mayWrite={mayWrite}
          isChanged={isChanged}
          onRestored={onRestored}
          onClose={() => {
            chosen.value = null
          }}
        />
      )}
    </Panel>
  )
}
