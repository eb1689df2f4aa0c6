import { moment } from "../shell/format"
import { Button, Dialog } from "../shell/parts"
import type { StoredDocument } from "./document-text"
import { diffLines, withoutFarLines } from "./text-diff"

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
  const lines = diffLines(theirs?.text ?? "", mine)
  const isSame = lines.every((line) => line.kind === "same")
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
      <p>
        {theirs
          ? isSame
            ? `It was stored again at ${moment(theirs.lastModified)}, with the text that you have.`
            : `It was stored at ${moment(theirs.lastModified)}, after you opened it. Your text is not stored yet.`
          : "Your text is not stored yet."}
      </p>
      {theirs && !isSame && (
        <>
          <p class="diff-legend">
            <span class="diff-left">− stored now</span> <span class="diff-right">+ yours</span>
          </p>
          <div class="diff" role="region" aria-label="Differences" tabIndex={0}>
            <table>
              <tbody>
                {withoutFarLines(lines).map((line, at) =>
                  line === null ? (
                    <tr key={`gap ${at}`} class="diff-gap">
                      <td colSpan={4}>…</td>
                    </tr>
                  ) : (
                    <tr key={`${line.leftNumber} ${line.rightNumber}`} class={`diff-${line.kind}`}>
                      <td class="diff-number">{line.leftNumber ?? ""}</td>
                      <td class="diff-number">{line.rightNumber ?? ""}</td>
                      <td class="diff-sign">{{ same: "", left: "−", right: "+" }[line.kind]}</td>
                      <td>
                        <code>{line.text}</code>
                      </td>
                    </tr>
                  ),
                )}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Dialog>
  )
}
