import { count } from "../shell/format"

/** Says how far a subscription is: the etag that its workers acknowledged, of the newest one of the documents. */
export function progressOf(changeVector: string | null, newest: number | null): { text: string; isDone: boolean } {
  if (!changeVector) return { text: newest === 0 ? "all" : "nothing yet", isDone: newest === 0 }
  const etag = /^[^:]*:(\d+)-/.exec(changeVector)?.[1]
  if (etag === undefined) return { text: changeVector, isDone: false }
  if (newest !== null && Number(etag) >= newest) return { text: "all", isDone: true }
  return { text: `up to ${count(Number(etag))}${newest === null ? "" : ` of ${count(newest)}`}`, isDone: false }
}
