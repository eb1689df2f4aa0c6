import { revisionsOf, type StoredDocument } from "../documents/document-text"
import { existing, fetchDocument, pathOf, readOf } from "../documents/store"
import { moment } from "../shell/format"
import { ask, send } from "../shell/request"

/** A revision in a list. */
export interface ListedRevision {
  changeVector: string
  lastModified: string
  /** Whether it stands for a deletion, and has no content. */
  isDeletion: boolean
  isForced: boolean
}

interface RevisionMetadata {
  "@metadata": { "@change-vector": string; "@last-modified": string; "@flags"?: string; "@id": string; "@collection"?: string }
}

export const RevisionsOfPage = 25

const listed = ({ "@metadata": metadata }: RevisionMetadata): ListedRevision => {
  const flags = (metadata["@flags"] ?? "").split(", ")
  return {
    changeVector: metadata["@change-vector"],
    lastModified: metadata["@last-modified"],
    isDeletion: flags.includes("DeleteRevision"),
    isForced: flags.includes("ForceCreated"),
  }
}

/** Names revisions by their times, with milliseconds where another one is of the same second. */
export function namesOf(revisions: readonly ListedRevision[]): ReadonlyMap<string, string> {
  const times = revisions.map((one) => moment(one.lastModified))
  return new Map(
    revisions.map((one, at) => {
      const time = times[at] ?? ""
      const isAlone = times.indexOf(time) === times.lastIndexOf(time)
      return [one.changeVector, isAlone ? time : `${time}.${/\.(\d{3})/.exec(one.lastModified)?.[1] ?? "000"}`]
    }),
  )
}

/** Lists revisions of a document without their contents, newest first. */
export async function listRevisions(
  database: string,
  id: string,
  start: number,
  signal: AbortSignal,
): Promise<{ revisions: ListedRevision[]; total: number }> {
  const { Results, TotalResults } = await ask<{ Results: RevisionMetadata[]; TotalResults: number }>(
    readOf(database, "revisions", { id, start, pageSize: RevisionsOfPage, metadataOnly: "true" }),
    { signal },
  )
  return { revisions: Results.map(listed), total: TotalResults }
}

/** Reads one revision; null if it was removed meanwhile. */
export async function readRevision(database: string, changeVector: string, signal: AbortSignal): Promise<StoredDocument | null> {
  // A single missing one gets 404, which browsers log as an error. So send the change vector twice.
  const path = `${readOf(database, "revisions", { changeVector })}&changeVector=${encodeURIComponent(changeVector)}`
  return revisionsOf(await (await send(path, { signal })).text())[0] ?? null
}

/**
 * Gives a document the content, attachments and counters of one of its revisions, as a new version. The route takes no
 * expected change vector, so that a version that the user has not seen is refused here: `present` is null for none.
 */
export async function restoreRevision(database: string, id: string, changeVector: string, present: string | null): Promise<void> {
  const isAsSeen =
    present === null
      ? (await existing(database, [id], new AbortController().signal)).size === 0
      : (await fetchDocument(database, id))?.changeVector === present
  if (!isAsSeen) {
    throw new Error(
      present === null
        ? `${id} was stored again meanwhile. Nothing was restored; open it to see its revisions.`
        : `${id} was changed meanwhile. Nothing was restored; reload it first.`,
    )
  }

  await send(pathOf(database, "revisions/revert/docs"), { method: "POST", body: { IdToChangeVector: { [id]: changeVector } } })
}

/** Keeps the present version of a document as a revision. Returns false if it is one already. */
export async function keepVersion(database: string, id: string): Promise<boolean> {
  const { Results } = await ask<{ Results: { RevisionCreated?: boolean }[] }>(pathOf(database, "bulk_docs"), {
    method: "POST",
    body: { Commands: [{ Id: id, Type: "ForceRevisionCreation" }] },
  })
  return Results[0]?.RevisionCreated === true
}

/** A deleted document that has revisions. */
export interface DeletedDocument {
  id: string
  collection: string
  deleted: string
}

/** Lists deleted documents that have revisions, the last deleted first. */
export async function listDeleted(database: string, start: number, size: number, signal: AbortSignal): Promise<DeletedDocument[]> {
  const { Results } = await ask<{ Results: RevisionMetadata[] }>(readOf(database, "revisions/bin", { start, pageSize: size }), { signal })
  return Results.map(({ "@metadata": metadata }) => ({
    id: metadata["@id"],
    collection: metadata["@collection"] ?? "@empty",
    deleted: metadata["@last-modified"],
  }))
}
