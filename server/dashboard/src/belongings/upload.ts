import { pathOf } from "../documents/store"
import { Refusal } from "../shell/request"

/** The largest attachment that a node stores. */
export const MostBytes = 1 << 30

/**
 * Stores a file as an attachment. With `isNew` it is refused with 409 if there is one of that name. Not by `fetch`, which
 * does not report how much of a file was sent.
 */
export function uploadAttachment(
  database: string,
  id: string,
  file: File,
  isNew: boolean,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const contentType = file.type === "" ? undefined : file.type
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    request.open("PUT", pathOf(database, "attachments", { id, name: file.name, contentType }))
    request.setRequestHeader("Rookery-Request", "dashboard")
    if (isNew) request.setRequestHeader("If-Match", '""')
    request.upload.onprogress = ({ loaded }) => onSent(loaded)
    request.onload = () => {
      if (request.status < 300) resolve()
      else reject(new Refusal(request.status, sentenceIn(request.responseText) ?? `The node refused with status ${request.status}.`))
    }
    request.onerror = () =>
      reject(new Refusal(0, "The connection broke. It is not known whether the file was stored: read the document again."))
    request.onabort = () => reject(new DOMException("Stopped.", "AbortError"))
    request.onloadend = () => signal.removeEventListener("abort", stop)
    signal.addEventListener("abort", stop)
    if (signal.aborted) stop()
    else request.send(file)
  })
}

function sentenceIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { Message?: string }).Message
  } catch {
    return undefined
  }
}

/** Whether two names are those of the same attachment: nodes ignore the casing of ASCII letters only. */
export function isSameName(left: string, right: string): boolean {
  const folded = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return folded(left) === folded(right)
}
