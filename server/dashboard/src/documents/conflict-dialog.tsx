import { moment } from "../shell/format"
import { Button, Dialog } from "../shell/parts"
import { DiffTable } from "./diff-table"
import type { StoredDocument } from "./document-text"

interface ConflictDialogProps {
  id: string
  mine: string
  /** The stored version; null if the document was deleted. */
  theirs: StoredDocument | null
  onKeepMine: () => Promise<unknown>
  onTakeTheirs: () => void
  onClose: () => void
}

/** Shown if another client stored the document since it was opened: both texts, and a choice between them. */
export function ConflictDialog({ id, mine, theirs, onKeepMine, onTakeTheirs, onClose }: ConflictDialogProps) {
  return (
    <Dialog
      title={theirs ? `${id} was changed meanwhile` : `${id} was deleted meanwhile`}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Go on editing</Button>
          <Button onClick={onTakeTheirs}>{theirs ? "Take what is stored" : "Leave it deleted"}</Button>
          <Button kind="danger primary" onClick={onKeepMine}>
            {theirs ? "Replace it by mine" : "Store mine again"}
          </Button>
        </>
      }
    >
      {theirs && theirs.text === mine ? (
        <p>It was stored again at {moment(theirs.lastModified)}, with the text that you have.</p>
      ) : theirs ? (
        <>
          <p>It was stored at {moment(theirs.lastModified)}, after you opened it. Your text is not stored yet.</p>
          <DiffTable left={theirs.text} right={mine} leftName="stored now" rightName="yours" same="" />
        </>
      ) : (
        <p>Your text is not stored yet.</p>
      )}
    </Dialog>
  )
}
