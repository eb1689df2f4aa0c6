import type { Signal } from "@preact/signals"
import { useSignal } from "@preact/signals"
import type { ListedAttachment, StoredDocument } from "../documents/document-text"
import { pathOf, readOf } from "../documents/store"
import { bytes } from "../shell/format"
import { Button, Confirm, ErrorSentence, Menu, Panel, Progress, sentenceOf, toast } from "../shell/parts"
import { send } from "../shell/request"
import type { Upload } from "./use-uploads"

interface AttachmentsPanelProps {
  database: string
  stored: StoredDocument
  mayWrite: boolean
  upload: Signal<Upload | null>
  trouble: Signal<unknown>
  onChoose: () => void
  onStop: () => void
  onChanged: () => Promise<unknown>
}

/** The attachments of a document. Their names are in its metadata, so the panel itself sends no request. */
export function AttachmentsPanel({ database, stored, mayWrite, upload, trouble, onChoose, onStop, onChanged }: AttachmentsPanelProps) {
  const dropped = useSignal<ListedAttachment | null>(null)
  const running = upload.value
  return (
    <Panel
      title="Attachments"
      actions={
        mayWrite &&
        (running ? (
          <Button onClick={onStop}>Stop</Button>
        ) : (
          <Button kind="plain" onClick={onChoose}>
            Attach a file
          </Button>
        ))
      }
    >
      <div class="stack">
        {running && <Progress label={running.name} done={running.sent} total={running.total} format={bytes} />}
        <ErrorSentence of={trouble.value} />
        {stored.attachments.length > 0 && (
          <ul class="belongings">
            {stored.attachments.map((attachment) => (
              <li key={attachment.Name}>
                <a
                  href={readOf(database, "attachments", { id: stored.id, name: attachment.Name })}
                  download
                  onClick={(event) => {
                    event.preventDefault()
                    void downloadAttachment(database, stored.id, attachment)
                  }}
                >
                  {attachment.Name}
                </a>
                <span class="quiet number">{bytes(attachment.Size)}</span>
                {mayWrite && (
                  <Menu
                    label={`Actions on ${attachment.Name}`}
                    actions={[
                      {
                        title: "Delete …",
                        danger: true,
                        onClick: () => {
                          dropped.value = attachment
                        },
                      },
                    ]}
                  />
                )}
                {attachment.ContentType !== "" && <span class="quiet kind">{attachment.ContentType}</span>}
              </li>
            ))}
          </ul>
        )}
      </div>
      {dropped.value && (
        <Confirm
          title={`Delete ${dropped.value.Name}?`}
          verb="Delete"
          danger
          onConfirm={async () => {
            const name = dropped.value?.Name
            await send(pathOf(database, "attachments", { id: stored.id, name }), { method: "DELETE" })
            toast(`${name} is deleted.`)
            await onChanged()
          }}
          onClose={() => {
            dropped.value = null
          }}
        >
          <p>
            {stored.flags.has("HasRevisions")
              ? `Revisions of ${stored.id} that had it keep it.`
              : "This cannot be undone: afterwards only a backup has it."}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}

/**
 * Downloads an attachment. Its first byte is read before, because a download that the node refuses is shown by browsers
 * without the reason.
 */
async function downloadAttachment(database: string, id: string, { Name, Size }: ListedAttachment): Promise<void> {
  const path = readOf(database, "attachments", { id, name: Name })
  try {
    if (Size > 0) await (await send(path, { headers: { Range: "bytes=0-0" } })).arrayBuffer()
  } catch (failure) {
    toast(`${Name} cannot be downloaded. ${sentenceOf(failure)}`, { tone: "bad", seconds: 12 })
    return
  }

  const link = document.createElement("a")
  link.href = path
  link.download = Name
  link.click()
}
