import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Button, ErrorSentence, LinkButton, Menu, Panel, useAsked } from "../shell/parts"
import { hrefOf, route, takeParameter } from "../shell/route"
import { may } from "../shell/session"
import { storage } from "../shell/storage"
import { CollectionsList } from "./collections-list"
import { DatabaseChoice, NoDatabase, useDatabases } from "./database-choice"
import { DocumentsTable } from "./documents-table"
import { ExportPanel } from "./export-panel"
import { FilterForm } from "./filter-form"
import { ImportPanel } from "./import-panel"
import {
  type Cursor,
  type Filter,
  FirstPage,
  hasOrders,
  type Order,
  orderWords,
  type Page,
  pageSizeFor,
  queryOf,
  readPage,
} from "./listing"
import { orderOf, rememberOrder } from "./order-memory"
import { type CollectionStatistics, readOf, readsAreLocal } from "./store"

function OrderChoice({ isCollection, chosen, onChoose }: { isCollection: boolean; chosen: Order; onChoose: (order: Order) => void }) {
  return (
    <select
      class="input order-choice"
      aria-label="Order"
      title={isCollection ? "Any other order than as stored needs a query, which creates an index if there is none" : ""}
      value={chosen}
      onChange={(event) => onChoose(event.currentTarget.value as Order)}
    >
      <option value="newest">Newest first</option>
      <option value="plain">{isCollection ? "As stored" : "By id"}</option>
      {chosen.startsWith("by ") && <option value={chosen}>{orderWords(chosen)}</option>}
    </select>
  )
}

/** The page with the documents of a database, or of one of its collections. */
export function BrowsePage({ database, collection }: { database: string; collection: string | null }) {
  const asked = { prefix: route.value.query.get("prefix") ?? "", where: route.value.query.get("where") ?? "" }
  const chosenOrder = useSignal(orderOf(storage, database, collection))
  const filter: Filter = { ...asked, order: hasOrders(collection, asked) ? chosenOrder.value : "plain" }
  const statistics = useAsked<CollectionStatistics>(readOf(database, "collections/stats/detailed"), 5)
  const databases = useDatabases(database)
  const cursors = useSignal<Cursor[]>([FirstPage])
  const shown = useSignal<{ page: Page; of: Cursor } | null>(null)
  const trouble = useSignal<unknown>(null)
  const reads = useSignal(0)
  // The palette leads to a panel by the address.
  const open = useSignal<"import" | "export" | null>(null)
  useEffect(() => {
    const asked = takeParameter("open")
    if (asked === "import" || asked === "export") open.value = asked
  }, [route.value])

  const all = Object.values(statistics.data.value?.Collections ?? {})
  const ofPage = collection === null ? all : all.filter((counted) => counted.Name.toLowerCase() === collection.toLowerCase())
  const sum = (by: (counted: (typeof all)[number]) => number) => ofPage.reduce((total, counted) => total + by(counted), 0)
  const documents = sum((counted) => counted.CountOfDocuments)
  const isKnown = statistics.data.value !== undefined || statistics.trouble.value !== null
  const size = pageSizeFor(
    documents,
    sum((counted) => counted.Size.SizeInBytes),
  )

  const { prefix, where, order } = filter
  // The absence of a leader may be known only after the first request. Reading it here repeats the request.
  const isLocal = readsAreLocal()
  useEffect(() => {
    cursors.value = [FirstPage]
    shown.value = null
  }, [prefix, where, order])
  const cursor = cursors.value.at(-1) ?? FirstPage
  useEffect(() => {
    if (!isKnown) return
    const stopped = new AbortController()
    readPage(database, collection, filter, cursor, size, stopped.signal, reads.value > 0).then(
      (read) => {
        shown.value = { page: read, of: cursor }
        trouble.value = null
      },
      (failure) => {
        if (!stopped.signal.aborted) trouble.value = failure
      },
    )
    return () => stopped.abort()
  }, [cursor, prefix, where, order, reads.value, isKnown, isLocal])

  const page = shown.value?.page ?? null
  // While another page is being read, the shown one's successor is not that of the page to come.
  const isShown = shown.value?.of === cursor
  if (databases.isMissing) return <NoDatabase name={database} />
  const refresh = () => {
    reads.value++
    void statistics.refresh()
  }
  const chooseOrder = (value: Order) => {
    chosenOrder.value = value
    rememberOrder(storage, database, collection, value)
  }
  const isFiltered = prefix !== "" || where !== ""
  const toggle = (panel: "import" | "export") => {
    open.value = open.value === panel ? null : panel
  }
  const create = `${hrefOf("document", database)}${collection ? `?collection=${encodeURIComponent(collection)}` : ""}`
  return (
    <div class="stack">
      <div class="title-row">
        <h1>
          <a href="#/documents">Documents</a> <span class="quiet">›</span> {database}
        </h1>
        <div class="actions">
          <DatabaseChoice page="documents" chosen={database} databases={databases} />
          {may("write", database) && (
            <Button expanded={open.value === "import"} onClick={() => toggle("import")}>
              Import
            </Button>
          )}
          <Button expanded={open.value === "export"} onClick={() => toggle("export")}>
            Export
          </Button>
          <Menu
            label={`More of ${database}`}
            actions={[
              { title: "Settings", href: hrefOf("database", database) },
              { title: "Subscriptions", href: hrefOf("database", database, "subscriptions") },
              { title: "Deleted documents", href: hrefOf("database", database, "deleted") },
            ]}
          />
          {may("write", database) && (
            <LinkButton kind="primary" href={create}>
              New document
            </LinkButton>
          )}
        </div>
      </div>
      {open.value === "import" && <ImportPanel database={database} onStored={refresh} onClose={() => toggle("import")} />}
      {open.value === "export" && (
        <ExportPanel
          of={{ database, query: queryOf(collection, { ...filter, order: "plain" }), prefix }}
          title={
            collection === null && !isFiltered
              ? `all of ${database}`
              : [collection, isFiltered ? "as filtered" : ""].filter(Boolean).join(", ")
          }
          total={isFiltered ? (page?.total ?? null) : documents}
          onClose={() => toggle("export")}
        />
      )}
      <div class="browse">
        <CollectionsList database={database} chosen={collection} statistics={statistics.data.value} />
        <Panel
          title={collection === "@empty" ? "Documents without a collection" : (collection ?? "All documents")}
          actions={
            <>
              {hasOrders(collection, asked) && (
                <OrderChoice isCollection={collection !== null || where.trim() !== ""} chosen={order} onChoose={chooseOrder} />
              )}
              <FilterForm filter={filter} collection={collection} database={database} />
            </>
          }
        >
          <ErrorSentence of={trouble.value ?? statistics.trouble.value} retry={refresh} />
          <DocumentsTable
            database={database}
            page={page}
            isFiltered={isFiltered}
            collection={collection}
            order={order}
            onOrder={chooseOrder}
            createHref={create}
            begin={shown.value?.of.start ?? 0}
            total={page?.total ?? (isFiltered ? null : documents)}
            onChanged={refresh}
            {...(cursors.value.length > 1 && (isShown || trouble.value !== null)
              ? {
                  onPrevious: () => {
                    cursors.value = cursors.value.slice(0, -1)
                  },
                }
              : {})}
            {...(isShown && page?.next
              ? {
                  onNext: () => {
                    if (page.next && cursors.value.at(-1) === cursor) cursors.value = [...cursors.value, page.next]
                  },
                }
              : {})}
          />
        </Panel>
      </div>
    </div>
  )
}
