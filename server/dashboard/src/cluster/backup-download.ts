import { send } from "../shell/request"
import { BackupCheck, type BackupContents } from "./backup-stream"

const PieceBytes = 8 << 20

/** Checks a stream of a backup. Returns its contents, and if `isKept` its bytes as a file. */
async function checked(
  stream: ReadableStream<Uint8Array>,
  isKept: boolean,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<{ contents: BackupContents; file: Blob }> {
  const check = new BackupCheck()
  const pieces: Blob[] = []
  let held: Uint8Array[] = []
  let [length, all] = [0, 0]
  const reader = stream.getReader()
  try {
    for (;;) {
      signal.throwIfAborted()
      const { value, done } = await reader.read()
      if (done) break
      check.push(value)
      all += value.length
      onBytes(all)
      if (!isKept) continue
      held.push(value)
      length += value.length
      if (length < PieceBytes) continue
      // A browser moves large blobs to its disk.
      pieces.push(new Blob(held as BlobPart[]))
      held = []
      length = 0
    }
  } finally {
    reader.cancel().catch(() => {})
  }

  return { contents: check.finish(), file: new Blob([...pieces, ...(held as BlobPart[])], { type: "application/octet-stream" }) }
}

/** Downloads a backup of the node that serves the page, and checks every piece. */
export async function takeBackup(onBytes: (bytes: number) => void, signal: AbortSignal): Promise<{ contents: BackupContents; file: Blob }> {
  const response = await send("/admin/node/backup", { signal })
  return checked(response.body ?? new Blob([]).stream(), true, onBytes, signal)
}

/** Checks a file that was downloaded before. */
export async function checkBackup(file: Blob, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<BackupContents> {
  return (await checked(file.stream(), false, onBytes, signal)).contents
}
