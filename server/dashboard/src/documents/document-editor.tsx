import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { bytes } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, Confirm, ErrorSentence, Field, LinkButton, Tag, toast } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { hasEnded, may } from "../shell/session"
import { useHeldPage } from "../shell/unsaved"
import { CodeEditor, goTo } from "./code-editor"
import { ConflictDialog } from "./conflict-dialog"
import { DocumentFacts } from "./document-facts"
import { newDocumentText, type StoredDocument } from "./document-text"
import { keepDraft, offerDraft, restoredDrafts, takeDraft } from "./drafts"
import { download } from "./export"
import { highlightJson } from "./highlight"
import { documentFault, formatJson, placeOf } from "./json-text"
import { LargeText } from "./large-text"
import { deleteDocument, fetchDocument, isConflict, putBack, putDocument } from "./store"
import { useSettled } from "./use-settled"

interface DocumentEditorProps {
  database: string
  /** The document that was read; null for a new one. */
  stored: StoredDocument | null
  collection: string | null
  onStored: (now: StoredDocument | null) => void
}

const Label = "Document as JSON"
const LongestEdited = 1_000_000

/**
 * The editor of a document. A save replaces only the version that was read. If another client stored the document
 * meanwhile, both texts are shown.
 */
export function DocumentEditor({ database, stored, collection, onStored }: DocumentEditorProps) {
  const isNew = stored === null
  const address = useRef(location.hash).current
  const draft = useMemo(() => takeDraft(address), [])
  // The stored text, or the initial text of a new document. A text that differs from it is not saved.
  const original = useSignal(stored?.text ?? newDocumentText(collection))
  const text = useSignal(draft?.text ?? original.value)
  // The change vector of the version that the text is based on, which is expected when the text is stored.
  // A draft of a document that was deleted meanwhile is one of a new document.
  const base = useRef(stored === null ? null : draft ? draft.changeVector : stored.changeVector)
  // The text of that version; null if it is not known, because the draft is based on an older one.
  const baseText = useRef(stored !== null && base.current === stored.changeVector ? stored.text : null)
  const isDone = useRef(false)
  /** Called with the id of a new document when it is stored. */
  const made = useRef<string | null>(null)
  const isGoingThere = useRef(false)
  const id = useSignal(
    stored?.id ??
      draft?.id ??
      route.peek().query.get("id") ??
      (collection && !collection.startsWith("@") ? `${collection.toLowerCase()}/` : ""),
  )
  const isAskingToDrop = useSignal(false)
  const conflict = useSignal<{ theirs: StoredDocument | null } | null>(null)
  const trouble = useSignal<unknown>(null)
  // Whether the document is being stored or read. A save that is requested meanwhile follows.
  const isBusy = useSignal(false)
  const isSaveWanted = useRef(draft?.isSaveWanted ?? false)
  const mayWrite = may("write", database)
  const settled = useSettled(text.value)
  const fault = useMemo(() => documentFault(settled), [settled])
  const isChanged = text.value !== original.value
  const isForced = useSignal(false)
  const isLarge = text.value.length > LongestEdited && !isForced.value
  const place = fault ? placeOf(settled, fault.at) : null

  useHeldPage(isChanged)
  const leaving = useLeaving()
  const leave = useRef(() => {})
  leave.current = () => {
    if (text.value === original.value || isDone.current) return
    const left = { id: made.current ?? id.value, text: text.value, changeVector: base.current }
    const place = made.current === null ? address : hrefOf("document", database, made.current)
    // The user leaves no text when the node ends the session, as at each of its restarts: it is restored after the sign-in.
    if (isGoingThere.current || hasEnded()) keepDraft(place, { ...left, isSaveWanted: isSaveWanted.current })
    else offerDraft(place, made.current ?? stored?.id ?? "The new document", left)
  }
  // Not useEffect, which starts only after the next frame: a text that is left earlier would be lost. While a save is
  // in progress it is not known whether the text is stored.
  useLayoutEffect(
    () => () => {
      if (!isBusy.value) leave.current()
    },
    [],
  )

  /** Sets the stored version. Text that was typed after `seen` stays and is not saved. */
  const take = (now: StoredDocument | null, seen: string) => {
    if (text.value === seen) {
      text.value = now?.text ?? ""
      base.current = now?.changeVector ?? null
      baseText.current = now?.text ?? null
      isDone.current = now === null
    } else if (now === null || now.changeVector !== base.current) {
      // Another client stored the document. The next save detects that and shows both texts.
      return
    } else baseText.current = now.text

    original.value = now?.text ?? ""
    onStored(now)
  }

  /** Runs an operation, and then a save that was requested meanwhile. */
  const runThenSave = async (work: () => Promise<void>) => {
    isBusy.value = true
    trouble.value = null
    try {
      await work()
    } catch (failure) {
      isSaveWanted.current = false
      trouble.value = failure
    } finally {
      isBusy.value = false
    }

    const isAgain = isSaveWanted.current && made.current === null && text.value !== original.value
    if (made.current === null) isSaveWanted.current = false
    if (isAgain) await save()
    else if (leaving.aborted) leave.current()
    else if (made.current !== null) {
      isGoingThere.current = true
      // The document may have been deleted while it was open, and be stored again under the address of its page.
      if (route.peek().parts.slice(1).join("/") === made.current) restoredDrafts.value++
      else location.hash = hrefOf("document", database, made.current)
    }
  }

  const reload = async () => {
    if (!stored || isBusy.value) return
    const seen = text.value
    await runThenSave(async () => take(await fetchDocument(database, stored.id), seen))
  }

  /** Reads the document again after a change of its attachments or counters, which made a new version of it. */
  const readBelongings = async () => {
    // A save that is in progress reads the document itself.
    if (!stored || isBusy.value || leaving.aborted) return
    await runThenSave(async () => {
      const now = await fetchDocument(database, stored.id)
      if (leaving.aborted) return
      if (text.value === original.value) take(now, text.value)
      else if (now !== null && now.text === baseText.current) {
        base.current = now.changeVector
        onStored(now)
      } else if (now !== null) {
        // Another client changed the text. The next save shows both; until then only what is beside the text is new.
        const { attachments, belongings, flags } = now
        onStored({ ...stored, attachments, belongings, flags })
      }
    })
  }

  const save = async (expected?: string) => {
    if (!mayWrite) return
    if (isBusy.value || made.current !== null) {
      isSaveWanted.current = true
      return
    }

    const sent = text.value
    const wrong = documentFault(sent)
    if (wrong) {
      if (leaving.aborted) leave.current()
      else goTo(Label, wrong.at)
      return
    }

    await runThenSave(() => store(sent, expected))
  }

  const store = async (sent: string, expected?: string) => {
    const wanted = id.value.trim()
    // An id that the node completes cannot exist yet.
    const isMade = wanted === "" || wanted.endsWith("/") || wanted.endsWith("|")
    try {
      const replaced = expected ?? base.current ?? (isMade ? null : "")
      const { Id, ChangeVector } = await putDocument(database, wanted, sent, replaced)
      base.current = ChangeVector
      baseText.current = sent
      original.value = sent
      conflict.value = null
      toast(`${Id} is stored.`, { tone: "good" })
      if (isNew) made.current = Id
      else if (!leaving.aborted) take(await fetchDocument(database, Id), sent)
    } catch (failure) {
      if (!isConflict(failure)) throw failure
      const theirs = await fetchDocument(database, wanted)
      // Only attachments, counters or flags changed since the document was read, and a PUT keeps them.
      if (!isNew && expected === undefined && theirs !== null && theirs.text === baseText.current) return store(sent, theirs.changeVector)
      isSaveWanted.current = false
      if (isNew) throw new Error(`There is a document ${theirs?.id ?? wanted} already. Open it, or choose another id.`)
      conflict.value = { theirs }
    }
  }

  useEffect(() => {
    if (!isSaveWanted.current) return
    isSaveWanted.current = false
    void save()
  }, [])

  const drop = async () => {
    if (!stored) return
    try {
      await deleteDocument(database, stored.id, stored.changeVector)
    } catch (failure) {
      trouble.value = isConflict(failure) ? new Error("The document changed meanwhile, and was not deleted. Reload it first.") : failure
      return
    }

    isDone.current = true
    const list = stored.collection === "@empty" ? hrefOf("documents", database) : hrefOf("documents", database, stored.collection)
    if (!leaving.aborted) location.hash = list
    // It would store only the text again.
    if (stored.belongings) toast(`${stored.id} is deleted.`)
    else
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
          {!isNew && <Button onClick={reload}>{isChanged ? "Discard changes" : "Reload"}</Button>}
          {!isNew && mayWrite && (
            <>
              <LinkButton href={`${hrefOf("document", database)}?collection=${encodeURIComponent(stored.collection)}`}>New</LinkButton>
              <Button
                kind="danger"
                onClick={() => {
                  if (!stored.belongings) return drop()
                  isAskingToDrop.value = true
                }}
              >
                Delete
              </Button>
            </>
          )}
          {mayWrite && (
            <Button
              kind="primary"
              busy={isBusy.value}
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
        <Field label="Id" hint="If it ends in /, the node adds a number. If it is empty, the node generates a GUID.">
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
                  {bytes(text.value.length)} are too long for browsers to edit well. Long lines are cut off here, but saved completely.
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
        <DocumentFacts
          database={database}
          stored={stored}
          text={settled}
          isGood={fault === null}
          isChanged={isChanged}
          onBelongings={readBelongings}
          onRestored={reload}
        />
      </div>
      {isAskingToDrop.value && stored && (
        <Confirm
          title={`Delete ${stored.id}?`}
          verb="Delete"
          danger
          onConfirm={drop}
          onClose={() => {
            isAskingToDrop.value = false
          }}
        >
          <p>
            The document has {stored.belongings}, which are deleted with it.{" "}
            {stored.flags.has("HasRevisions")
              ? `It can be restored from the deleted documents of ${database}, unless its collection's revisions end with it.`
              : "This cannot be undone."}
          </p>
        </Confirm>
      )}
      {conflict.value && stored && (
        <ConflictDialog
          id={stored.id}
          mine={text.value}
          theirs={conflict.value.theirs}
          onKeepMine={() => save(conflict.value?.theirs?.changeVector ?? "")}
          onTakeTheirs={() => {
            const theirs = conflict.value?.theirs ?? null
            conflict.value = null
            take(theirs, text.value)
          }}
          onClose={() => {
            conflict.value = null
          }}
        />
      )}
    </div>
  )
}
