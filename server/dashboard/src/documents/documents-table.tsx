import { useSignal } from "@preact/signals"
import { bytes, count, moment } from "../shell/format"
import { Button, type Column, Confirm, Empty, LinkButton, sentenceOf, Table, Tag, toast } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import type { StoredDocument } from "./document-text"
import { Expiry } from "./expiry"
import type { Page } from "./listing"
import { deleteDocuments, isOutcomeUnknown, putBack } from "./store"

interface DocumentsTableProps {
  database: string
  page: Page | null
  isFiltered: boolean
  showsCollection: boolean
  createHref: string
  /** Number of documents before this page. */
  begin: number
  total: number | null
  onChanged: () => void
  onPrevious?: () => void
  onNext?: () => void
}

/** A page of documents. Selected ones can be deleted together; a deletion can be undone. */
export function DocumentsTable({
  database,
  page,
  isFiltered,
  showsCollection,
  createHref,
  begin,
  total,
  onChanged,
  onPrevious,
  onNext,
}: DocumentsTableProps) {
  const chosen = useSignal<ReadonlyMap<string, StoredDocument>>(new Map())
  const isAsking = useSignal(false)
  if (page === null) {
    return (
      <p class="quiet" role="status">
        Loading …
      </p>
    )
  }

  const { documents } = page
  const mayWrite = may("write", database)
  const isPageChosen = documents.length > 0 && documents.every(({ id }) => chosen.value.has(id))
  const choose = (which: StoredDocument[], isChosen: boolean) => {
    const next = new Map(chosen.value)
    for (const document of which) {
      if (isChosen) next.set(document.id, document)
      else next.delete(document.id)
    }

    chosen.value = next
  }
  // Undo stores only texts again.
  const lost = [...chosen.value.values()].filter((document) => document.belongings !== "")
  const drop = async () => {
    const dropped = [...chosen.value.values()]
    const what = dropped.length === 1 ? (dropped[0]?.id ?? "") : `${count(dropped.length)} documents`
    const failure = await deleteDocuments(database, dropped).then(
      () => null,
      (reason: unknown) => reason,
    )
    const isUnknown = failure !== null && isOutcomeUnknown(failure)
    chosen.value = new Map()
    onChanged()
    if (failure !== null && !isUnknown) {
      toast(`Nothing was deleted. ${sentenceOf(failure)}`, { tone: "bad", seconds: 12 })
      return
    }

    const undo = async () => {
      try {
        await putBack(database, dropped, isUnknown ? "exists" : undefined)
      } finally {
        onChanged()
      }
    }
    toast(
      isUnknown
        ? `${sentenceOf(failure)} It is not known whether ${what} ${dropped.length === 1 ? "was" : "were"} deleted.`
        : `${what} deleted.`,
      { ...(isUnknown ? { tone: "bad" } : {}), ...(lost.length > 0 ? {} : { undo }) },
    )
  }

  const columns: Column<StoredDocument>[] = [
    ...(mayWrite
      ? [
          {
            title: "Choose",
            unseenTitle: true,
            cell: (document: StoredDocument) => (
              <input
                type="checkbox"
                class="row-tick"
                aria-label={`Choose ${document.id}`}
                checked={chosen.value.has(document.id)}
                onChange={(event) => choose([document], event.currentTarget.checked)}
              />
            ),
          },
        ]
      : []),
    {
      title: "Id",
      cell: (document) => (
        <span class="document-id">
          <a href={hrefOf("document", database, document.id)}>{document.id}</a>
          <Expiry at={document.expires} />
          <span class="preview">{document.preview}</span>
        </span>
      ),
    },
    ...(showsCollection
      ? [
          {
            title: "Collection",
            wideOnly: true,
            cell: (document: StoredDocument) =>
              document.collection === "@empty" ? (
                <span class="quiet">none</span>
              ) : (
                <a class="plain-link" href={hrefOf("documents", database, document.collection)}>
                  {document.collection}
                </a>
              ),
          },
        ]
      : []),
    { title: "Content", wideOnly: true, cell: (document) => <span class="preview">{document.preview}</span> },
    { title: "Size", cell: (document) => <span class="nowrap">{bytes(document.bytes)}</span>, end: true },
    {
      title: "Changed",
      cell: (document) => <time dateTime={document.lastModified}>{moment(document.lastModified)}</time>,
      end: true,
      wideOnly: true,
    },
  ]
  return (
    <>
      {mayWrite && documents.length > 0 && (
        <div class="choosing">
          <label class="tick">
            <input type="checkbox" checked={isPageChosen} onChange={(event) => choose(documents, event.currentTarget.checked)} />
            Choose this page
          </label>
          {chosen.value.size > 0 && (
            <>
              <Tag tone="accent">{count(chosen.value.size)} chosen</Tag>
              <Button
                kind="danger"
                onClick={() => {
                  if (lost.length === 0) return drop()
                  isAsking.value = true
                }}
              >
                Delete {chosen.value.size === 1 ? "it" : "them"}
              </Button>
              <Button
                kind="plain"
                onClick={() => {
                  chosen.value = new Map()
                }}
              >
                None
              </Button>
            </>
          )}
        </div>
      )}
      {isAsking.value && (
        <Confirm
          title={`Delete ${chosen.value.size === 1 ? lost[0]?.id : `${count(chosen.value.size)} documents`}?`}
          verb="Delete"
          danger
          onConfirm={drop}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>
            {lost[0]?.id} has {lost[0]?.belongings}
            {lost.length > 1 && `, and ${count(lost.length - 1)} more ${lost.length === 2 ? "has" : "have"} some, too`}. They are deleted
            with it. This cannot be undone.
          </p>
        </Confirm>
      )}
      <Table
        label="Documents"
        columns={columns}
        rows={documents}
        keyOf={(document) => document.id}
        rowClass={(document) => (chosen.value.has(document.id) ? "chosen" : "")}
        empty={
          <Empty title={isFiltered ? "No document matches the filter." : "There is no document here yet."}>
            {!isFiltered && mayWrite && (
              <LinkButton kind="primary" href={createHref}>
                Write the first one
              </LinkButton>
            )}
          </Empty>
        }
      />
      {(onPrevious || onNext || documents.length > 0) && (
        <div class="pages">
          <span class="quiet number" role="status">
            {documents.length === 0
              ? ""
              : `${count(begin + 1)}–${count(begin + documents.length)}${total === null ? "" : ` of ${count(total)}`}`}
          </span>
          <Button disabled={!onPrevious} onClick={() => onPrevious?.()}>
            Previous
          </Button>
          <Button disabled={!onNext} onClick={() => onNext?.()}>
            Next
          </Button>
          <Button kind="plain" onClick={onChanged}>
            Read again
          </Button>
        </div>
      )}
    </>
  )
}
