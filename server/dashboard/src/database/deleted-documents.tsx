import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { type DeletedDocument, type ListedRevision, listDeleted, listRevisions } from "../belongings/revisions"
import { RevisionsDialog } from "../belongings/revisions-dialog"
import { moment } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, Empty, ErrorSentence, Panel, sentenceOf, Table, toast } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import "../belongings/belongings.css"

const PageSize = 50

/** Deleted documents that have revisions, and can be restored. */
export function DeletedDocuments({ database }: { database: string }) {
  const start = useSignal(0)
  const reads = useSignal(0)
  const shown = useSignal<{ rows: DeletedDocument[]; start: number; hasMore: boolean } | null>(null)
  const trouble = useSignal<unknown>(null)
  const opened = useSignal<{ id: string; revisions: ListedRevision[] } | null>(null)
  const leaving = useLeaving()
  const again = () => {
    reads.value++
  }
  useEffect(() => {
    const stopped = new AbortController()
    listDeleted(database, start.value, PageSize + 1, stopped.signal).then(
      (found) => {
        shown.value = { rows: found.slice(0, PageSize), start: start.value, hasMore: found.length > PageSize }
        trouble.value = null
      },
      (failure) => {
        if (!stopped.signal.aborted) trouble.value = failure
      },
    )
    return () => stopped.abort()
  }, [start.value, reads.value])
  const open = async (id: string) => {
    try {
      const { revisions } = await listRevisions(database, id, 0, leaving)
      if (leaving.aborted) return
      if (revisions.some((one) => !one.isDeletion)) opened.value = { id, revisions }
      else toast(`No content of ${id} is kept any more.`, { tone: "bad" })
    } catch (failure) {
      if (!leaving.aborted) toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
    }
  }
  const page = shown.value
  return (
    <Panel
      title="Deleted documents"
      actions={
        <Button kind="plain" onClick={again}>
          Read again
        </Button>
      }
    >
      <ErrorSentence of={trouble.value} retry={again} />
      {page && (
        <Table
          label="Deleted documents"
          rows={page.rows}
          keyOf={(row) => row.id}
          empty={
            <Empty title="No deleted document can be restored.">
              <span>
                Documents of collections that keep revisions stay here after their deletion.{" "}
                <a href={hrefOf("database", database, "settings")}>Which do</a>
              </span>
            </Empty>
          }
          columns={[
            { title: "Id", cell: (row) => row.id },
            {
              title: "Collection",
              wideOnly: true,
              cell: (row) => (row.collection === "@empty" ? <span class="quiet">none</span> : row.collection),
            },
            { title: "Deleted", end: true, cell: (row) => <time dateTime={row.deleted}>{moment(row.deleted)}</time> },
            {
              title: "Actions",
              unseenTitle: true,
              end: true,
              cell: (row) => (
                <Button label={`${may("write", database) ? "Restore" : "Revisions of"} ${row.id}`} onClick={() => open(row.id)}>
                  {may("write", database) ? "Restore …" : "Revisions"}
                </Button>
              ),
            },
          ]}
        />
      )}
      {page && (page.start > 0 || page.hasMore) && (
        <div class="pages">
          <span class="quiet number" role="status">
            {page.start + 1}–{page.start + page.rows.length}
          </span>
          <Button disabled={page.start === 0} onClick={() => (start.value = Math.max(0, page.start - PageSize))}>
            Previous
          </Button>
          <Button disabled={!page.hasMore} onClick={() => (start.value = page.start + PageSize)}>
            Next
          </Button>
        </div>
      )}
      {opened.value && (
        <RevisionsDialog
          database={database}
          id={opened.value.id}
          revisions={opened.value.revisions}
          present={null}
          chosen={opened.value.revisions.find((one) => !one.isDeletion)?.changeVector ?? ""}
          mayWrite={may("write", database)}
          isChanged={false}
          onRestored={async () => {
            again()
          }}
          onClose={() => {
            opened.value = null
          }}
        />
      )}
    </Panel>
  )
}
