import type { Signal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import type { StoredDocument } from "../documents/document-text"
import { Confirm, Menu, sentenceOf, toast } from "../shell/parts"
import { may } from "../shell/session"
import { AttachmentsPanel } from "./attachments-panel"
import { CountersPanel, IncrementDialog } from "./counters-panel"
import { keepVersion } from "./revisions"
import { RevisionsPanel } from "./revisions-panel"
import { useUploads } from "./use-uploads"
import "./belongings.css"

/** What the user asked to add to the document. */
export type Addition = "attachment" | "counter" | null

/** The menu that adds to a document what is beside its text. */
export function AddMenu({ database, stored, added, onChanged }: BelongingsProps) {
  if (!may("write", database)) return null
  const add = (what: Addition) => () => {
    added.value = what
  }
  return (
    <Menu
      label={`Add to ${stored.id}`}
      actions={[
        { title: "Attach a file", onClick: add("attachment") },
        { title: "New counter …", onClick: add("counter") },
        {
          title: "Keep this version",
          hint: "Makes a revision of the stored version, whatever the configuration of revisions says",
          onClick: async () => {
            try {
              toast(
                (await keepVersion(database, stored.id)) ? "This version is kept as a revision." : "This version is a revision already.",
                {
                  tone: "good",
                },
              )
              await onChanged()
            } catch (failure) {
              toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
            }
          },
        },
      ]}
    >
      Add
    </Menu>
  )
}

interface BelongingsProps {
  database: string
  stored: StoredDocument
  added: Signal<Addition>
  /** Called after a change that made a new version of the document. */
  onChanged: () => Promise<unknown>
}

interface PanelsProps extends BelongingsProps {
  isChanged: boolean
  onRestored: () => Promise<unknown>
}

/** Attachments, counters and revisions of a document. Nothing is requested of what its flags do not name. */
export function Belongings({ database, stored, added, isChanged, onChanged, onRestored }: PanelsProps) {
  const mayWrite = may("write", database)
  const uploads = useUploads(database, stored, onChanged)
  const input = useRef<HTMLInputElement>(null)
  const { upload, trouble, taken } = uploads
  useLayoutEffect(() => {
    if (added.value !== "attachment") return
    added.value = null
    input.current?.click()
  }, [added.value])

  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ""
          void uploads.start(files)
        }}
      />
      {(stored.attachments.length > 0 || upload.value || trouble.value !== null) && (
        <AttachmentsPanel
          database={database}
          stored={stored}
          mayWrite={mayWrite}
          upload={upload}
          trouble={trouble}
          onChoose={() => input.current?.click()}
          onStop={uploads.stop}
          onChanged={onChanged}
        />
      )}
      {stored.flags.has("HasCounters") && (
        <CountersPanel
          database={database}
          stored={stored}
          mayWrite={mayWrite}
          onAdd={() => {
            added.value = "counter"
          }}
          onChanged={onChanged}
        />
      )}
      {stored.flags.has("HasRevisions") && (
        <RevisionsPanel database={database} stored={stored} mayWrite={mayWrite} isChanged={isChanged} onRestored={onRestored} />
      )}
      {added.value === "counter" && (
        <IncrementDialog
          database={database}
          id={stored.id}
          name={null}
          onDone={onChanged}
          onClose={() => {
            added.value = null
          }}
        />
      )}
      {taken.value && (
        <Confirm
          title={`Replace ${taken.value.name}?`}
          verb="Replace"
          danger
          onConfirm={async () => {
            const file = taken.value
            if (file) void uploads.start([file], true)
          }}
          onClose={() => {
            taken.value = null
          }}
        >
          <p>The document has an attachment of this name already.</p>
        </Confirm>
      )}
    </>
  )
}
