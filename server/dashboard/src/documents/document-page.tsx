import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { Empty, ErrorSentence, LinkButton } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { may } from "../shell/session"
import { NoDatabase, useDatabases } from "./database-choice"
import { DocumentEditor } from "./document-editor"
import type { StoredDocument } from "./document-text"
import { hasDraft, restoredDrafts } from "./drafts"
import { fetchDocument, readsAreLocal } from "./store"
import "./documents.css"

/** The page of one document (`#/document/DB/ID`) or a new one (`#/document/DB[?collection=…]`). */
export function DocumentPage() {
  const [database = "", ...rest] = route.value.parts
  // An id that the user typed into the address may contain unescaped slashes.
  const id = rest.join("/")
  const collection = route.value.query.get("collection")
  const times = restoredDrafts.value
  const { isMissing } = useDatabases(database)
  if (isMissing) return <NoDatabase name={database} />
  if (database === "") return <Empty title="Which document?">Choose it on the documents page.</Empty>
  return id === "" ? (
    <DocumentEditor
      key={`new ${times} ${database} ${collection}`}
      database={database}
      stored={null}
      collection={collection}
      onStored={() => {}}
    />
  ) : (
    <Stored key={`${times} ${database}/${id}`} database={database} id={id} />
  )
}

function Stored({ database, id }: { database: string; id: string }) {
  const found = useSignal<StoredDocument | null | undefined>(undefined)
  const trouble = useSignal<unknown>(null)
  const isLeft = useRef(false)
  const reading = useRef<AbortController | undefined>(undefined)
  // A new read ends the one before, which could fail after the new one has opened the document.
  const read = async () => {
    reading.current?.abort()
    reading.current = new AbortController()
    const { signal } = reading.current
    trouble.value = null
    try {
      const now = await fetchDocument(database, id, signal)
      if (!signal.aborted) found.value = now
    } catch (failure) {
      if (!signal.aborted) trouble.value = failure
    }
  }
  useLayoutEffect(() => () => reading.current?.abort(), [])
  // The absence of a leader may be known only after the first request. A document that is already open stays.
  const isLocal = readsAreLocal()
  useEffect(() => {
    if (!found.value) void read()
  }, [isLocal])
  if (trouble.value && !found.value) return <ErrorSentence of={trouble.value} retry={read} />
  if (found.value === undefined) {
    return (
      <p class="quiet" role="status">
        Loading …
      </p>
    )
  }

  // The text that the user had not saved outlives the document.
  if (found.value === null && hasDraft(location.hash)) isLeft.current = true
  if (found.value === null && isLeft.current) {
    return <DocumentEditor database={database} stored={null} collection={null} onStored={() => {}} />
  }

  if (found.value === null) {
    return (
      <Empty title={`There is no document ${id}.`}>
        <span>It was deleted, or has not been written yet.</span>
        <span class="actions">
          <LinkButton href={hrefOf("documents", database)}>All documents</LinkButton>
          <LinkButton href={hrefOf("database", database, "deleted")}>Deleted documents</LinkButton>
          {may("write", database) && (
            <LinkButton kind="primary" href={`${hrefOf("document", database)}?id=${encodeURIComponent(id)}`}>
              Write it
            </LinkButton>
          )}
        </span>
      </Empty>
    )
  }

  return (
    <DocumentEditor
      database={database}
      stored={found.value}
      collection={found.value.collection}
      onStored={(now) => {
        found.value = now
      }}
    />
  )
}
