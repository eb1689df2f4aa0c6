import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { bytes, count, moment } from "../shell/format"
import { Button, type Column, Confirm, Empty, LinkButton, sentenceOf, Table, Tag, toast } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { storage } from "../shell/storage"
import { cellAt, columnsOf, fieldsOf, type Path, pathText, rememberColumns } from "./columns"
import type { StoredDocument } from "./document-text"
import { Expiry } from "./expiry"
import { type Order, orderBy, type Page } from "./listing"
import { deleteDocuments, isOutcomeUnknown, putBack } from "./store"

interface DocumentsTableProps {
  database: string
  page: Page | null
  isFiltered: boolean
  /** The collection; null for all documents. */
  collection: string | null
  order: Order
  onOrder: (order: Order) => void
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
  collection,
  order,
  onOrder,
  createHref,
  begin,
  total,
  onChanged,
  onPrevious,
  onNext,
}: DocumentsTableProps) {
  const chosen = useSignal<ReadonlyMap<string, StoredDocument>>(new Map())
  const isAsking = useSignal(false)
  const picked = useSignal<readonly Path[]>(collection === null ? [] : columnsOf(storage, database, collection))
  const fields = useMemo(() => (page === null || collection === null ? [] : fieldsOf(page.nodes)), [page, collection])
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
          {picked.value.length === 0 && <span class="preview">{document.preview}</span>}
        </span>
      ),
    },
    ...(collection === null
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
    ...picked.value.map((path) => fieldColumn({ database, page, path, order, onOrder })),
    ...(picked.value.length === 0
      ? [{ title: "Content", wideOnly: true, cell: (document: StoredDocument) => <span class="preview">{document.preview}</span> }]
      : []),
    { title: "Size", cell: (document) => <span class="nowrap">{bytes(document.bytes)}</span>, end: true },
    {
      title: "Changed",
      cell: (document) => <time dateTime={document.lastModified}>{moment(document.lastModified)}</time>,
      end: true,
      wideOnly: true,
    },
  ]
  const pick = (path: Path, isShown: boolean) => {
    const others = picked.value.filter((one) => pathText(one) !== pathText(path))
    picked.value = isShown ? [...others, path] : others
    if (collection !== null) rememberColumns(storage, database, collection, picked.value)
  }
  // A chosen field stays in the list, so that it can be removed, also on a page without it.
  const offered = [...picked.value, ...fields.filter((path) => !picked.value.some((one) => pathText(one) === pathText(path)))]
  return (
    <>
      {documents.length > 0 && (mayWrite || offered.length > 0) && (
        <div class="choosing">
          {mayWrite && (
            <label class="tick">
              <input type="checkbox" checked={isPageChosen} onChange={(event) => choose(documents, event.currentTarget.checked)} />
              Choose this page
            </label>
          )}
          {offered.length > 0 && (
            <details class="fold columns-fold">
              <summary>Columns{picked.value.length > 0 ? ` (${count(picked.value.length)})` : ""}</summary>
              <div class="column-choice">
                {offered.map((path) => (
                  <label key={pathText(path)} class="tick">
                    <input
                      type="checkbox"
                      checked={picked.value.includes(path)}
                      onChange={(event) => pick(path, event.currentTarget.checked)}
                    />
                    {pathText(path)}
                  </label>
                ))}
              </div>
            </details>
          )}
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
      <div class={picked.value.length > 0 ? "with-columns" : ""}>
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
      </div>
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

interface FieldColumnProps {
  database: string
  page: Page
  path: Path
  order: Order
  onOrder: (order: Order) => void
}

/** A column with the values of a field. A click on its title orders the whole collection by it. */
function fieldColumn({ database, page, path, order, onOrder }: FieldColumnProps): Column<StoredDocument> {
  const [ascending, descending] = [orderBy(path, false), orderBy(path, true)]
  const cells = new Map(page.documents.map(({ id }, at) => [id, page.nodes[at] ? cellAt(page.answer, page.nodes[at], path) : null]))
  return {
    title: pathText(path),
    end: [...cells.values()].some((cell) => cell?.isNumber),
    cell: ({ id }) => {
      const cell = cells.get(id)
      if (!cell) return <span class="quiet">–</span>
      return cell.link ? <a href={hrefOf("document", database, cell.link)}>{cell.text}</a> : <span title={cell.text}>{cell.text}</span>
    },
    ...(ascending && descending
      ? {
          order: {
            chosen: order === ascending ? "ascending" : order === descending ? "descending" : null,
            onChoose: () => onOrder(order === ascending ? descending : ascending),
          },
        }
      : {}),
  }
}
