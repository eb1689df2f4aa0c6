import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { bytes } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, ErrorSentence, Field, LinkButton, Tag, toast } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { may } from "../shell/session"
import { CodeEditor, goTo } from "./code-editor"
import { ConflictDialog } from "./conflict-dialog"
import { DocumentFacts } from "./document-facts"
import { newDocumentText, type StoredDocument } from "./document-text"
import { offerDraft, takeDraft } from "./drafts"
import { download } from "./export"
import { highlightJson } from "./highlight"
import { documentFault, formatJson, placeOf } from "./json-text"
import { LargeText } from "./large-text"
import { deleteDocument, fetchDocument, isConflict, putBack, putDocument } from "./store"
import { useSettled } from "./use-settled"

interface DocumentEditorProps {
  database: string
  /** The document as it was read; null for a new one. */
  stored: StoredDocument | null
  collection: string | null
  onStored: (now: StoredDocument | null) => void
}

const Label = "Document as JSON"
const LongestEdited = 1_000_000

/** The text of a document, and what one does with it. What is saved replaces what was read, or nothing: a change of others is shown first. */
export function DocumentEditor({ database, stored, collection, onStored }: DocumentEditorProps) {
  const isNew = stored === null
  const original = stored?.text ?? newDocumentText(collection)
  const address = useRef(location.hash).current
  const draft = useMemo(() => takeDraft(address), [])
  const text = useSignal(draft?.text ?? original)
  // The version that the text was made of: what must still be there when it is stored.
  const base = useRef(draft ? draft.changeVector : (stored?.changeVector ?? null))
  const isDone = useRef(false)
  const id = useSignal(
    stored?.id ?? route.peek().query.get("id") ?? (collection && !collection.startsWith("@") ? `${collection.toLowerCase()}/` : ""),
  )
  const conflict = useSignal<{ theirs: StoredDocument | null } | null>(null)
  const trouble = useSignal<unknown>(null)
  const isSaving = useSignal(false)
  const mayWrite = may("write", database)
  const settled = useSettled(text.value)
  const fault = useMemo(() => documentFault(settled), [settled])
  const isChanged = text.value !== original
  const isForced = useSignal(false)
  const isLarge = text.value.length > LongestEdited && !isForced.value
  const place = fault ? placeOf(settled, fault.at) : null

  useEffect(() => {
    if (!isChanged) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [isChanged])
  const leave = useRef(() => {})
  leave.current = () => {
    if (isChanged && !isDone.current)
      offerDraft(address, stored?.id ?? "The new document", { text: text.value, changeVector: base.current })
  }
  useEffect(() => () => leave.current(), [])
  const leaving = useLeaving()

  /** Shows what is stored now, as the page of that document. */
  const show = async (storedId: string) => {
    if (leaving.aborted) return
    if (isNew) {
      isDone.current = true
      location.hash = hrefOf("document", database, storedId)
      return
    }

    const now = await fetchDocument(database, storedId)
    text.value = now?.text ?? ""
    base.current = now?.changeVector ?? null
    isDone.current = now === null
    onStored(now)
  }

  const save = async (expected?: string) => {
    const wrong = documentFault(text.value)
    if (wrong) {
      goTo(Label, wrong.at)
      return
    }

    if (isSaving.value || !mayWrite) return
    isSaving.value = true
    trouble.value = null
    const wanted = id.value.trim()
    // An id that the node completes is free for sure.
    const isMade = wanted === "" || wanted.endsWith("/") || wanted.endsWith("|")
    try {
      const { Id } = await putDocument(database, wanted, text.value, expected ?? base.current ?? (isMade ? null : ""))
      conflict.value = null
      toast(`${Id} is stored.`, { tone: "good" })
      await show(Id)
    } catch (failure) {
      if (isConflict(failure)) {
        const theirs = await fetchDocument(database, wanted)
        if (isNew) trouble.value = new Error(`There is a document ${theirs?.id ?? wanted} already. Open it, or choose another id.`)
        else conflict.value = { theirs }
      } else trouble.value = failure
    } finally {
      isSaving.value = false
    }
  }

  const drop = async () => {
    if (!stored) return
    try {
      await deleteDocument(database, stored.id, stored.changeVector)
    } catch (failure) {
      trouble.value = isConflict(failure) ? new Error("It changed since you opened it, and was not deleted. Read it again first.") : failure
      return
    }

    isDone.current = true
    const list = stored.collection === "@empty" ? hrefOf("documents", database) : hrefOf("documents", database, stored.collection)
    if (!leaving.aborted) location.hash = list
    toast(`${stored.id} is deleted.`, {
      undo: async () => {
        await putBack(database, [stored])
        location.hash = hrefOf("document", database, stored.id)
      },
    })
  }

  return (
    <div class="stack">
      <div class="title-row">
        <h1 class="document-title">
          <a href="#/documents">Documents</a> <span class="quiet">›</span> <a href={hrefOf("documents", database)}>{database}</a>{" "}
          <span class="quiet">›</span> {isNew ? "new" : stored.id}
        </h1>
        <div class="actions">
          {isChanged && !isNew && <Tag tone="accent">not saved</Tag>}
          <Button
            disabled={fault !== null}
            onClick={() => {
              text.value = formatJson(text.value)
            }}
          >
            Format
          </Button>
          {!isNew && <Button onClick={() => show(stored.id)}>{isChanged ? "Discard changes" : "Reload"}</Button>}
          {!isNew && mayWrite && (
            <>
              <LinkButton href={`${hrefOf("document", database)}?collection=${encodeURIComponent(stored.collection)}`}>New</LinkButton>
              <Button kind="danger" onClick={drop}>
                Delete
              </Button>
            </>
          )}
          {mayWrite && (
            <Button
              kind="primary"
              busy={isSaving.value}
              disabled={fault !== null || !(isChanged || isNew)}
              title="Ctrl+S"
              onClick={() => save()}
            >
              Save
            </Button>
          )}
        </div>
      </div>
      <ErrorSentence of={trouble.value} />
      {isNew && (
        <Field label="Id" hint="Ends in / : the node adds a number. Empty: the node makes a GUID.">
          <input
            class="input id-input"
            autocapitalize="off"
            autocomplete="off"
            spellcheck={false}
            value={id.value}
            onInput={(event) => {
              id.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      <div class="document">
        <div class="stack">
          {isLarge ? (
            <>
              <LargeText label={Label} value={text.value} highlight={highlightJson} />
              <div class="actions">
                <span class="quiet">
                  {bytes(text.value.length)} are too long for browsers to edit well. Long lines are cut off here; what is saved is whole.
                </span>
                {mayWrite && (
                  <Button
                    onClick={() => {
                      isForced.value = true
                    }}
                  >
                    Edit it all the same
                  </Button>
                )}
                <Button
                  onClick={() =>
                    download(new Blob([text.value], { type: "application/json" }), `${stored?.id.replaceAll("/", "-") ?? "document"}.json`)
                  }
                >
                  Save as a file
                </Button>
              </div>
            </>
          ) : (
            <>
              <CodeEditor
                label={Label}
                value={text.value}
                onInput={(value) => {
                  text.value = value
                }}
                highlight={highlightJson}
                wrongAt={fault?.at ?? null}
                describedBy="document-fault"
                onSave={() => save()}
                readOnly={!mayWrite}
                tall
              />
              <p id="document-fault" class={fault ? "fault bad" : "fault quiet"} role="status">
                {fault && place ? (
                  <>
                    <Button kind="plain danger" onClick={() => goTo(Label, fault.at)}>
                      Line {place.line}, column {place.column}
                    </Button>
                    {fault.message}
                  </>
                ) : (
                  "Good JSON. Ctrl+S saves."
                )}
              </p>
            </>
          )}
        </div>
        <DocumentFacts database={database} stored={stored} text={settled} isGood={fault === null} />
      </div>
      {conflict.value && stored && (
        <ConflictDialog
          id={stored.id}
          mine={text.value}
          theirs={conflict.value.theirs}
          onKeepMine={() => save(conflict.value?.theirs?.changeVector ?? "")}
          onTakeTheirs={() => {
            const theirs = conflict.value?.theirs ?? null
            text.value = theirs?.text ?? ""
            base.current = theirs?.changeVector ?? null
            isDone.current = theirs === null
            conflict.value = null
            onStored(theirs)
          }}
          onClose={() => {
            conflict.value = null
          }}
        />
      )}
    </div>
  )
}
