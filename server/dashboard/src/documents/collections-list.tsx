import { bytes, count } from "../shell/format"
import { hrefOf } from "../shell/route"
import type { CollectionStatistics } from "./store"

/** The collections of a database with their counts: beside the documents, or above them on a phone. */
export function CollectionsList({
  database,
  chosen,
  statistics,
}: {
  database: string
  chosen: string | null
  statistics: CollectionStatistics | undefined
}) {
  const collections = Object.values(statistics?.Collections ?? {}).sort((left, right) => left.Name.localeCompare(right.Name))
  return (
    <nav class="collections" aria-label="Collections">
      <ul>
        <li>
          <a href={hrefOf("documents", database)} {...(chosen === null ? { "aria-current": "true" } : {})}>
            <span>All documents</span>
            <span class="number quiet">{statistics ? count(statistics.CountOfDocuments) : ""}</span>
          </a>
        </li>
        {collections.map((collection) => (
          <li key={collection.Name}>
            <a
              href={hrefOf("documents", database, collection.Name)}
              title={`${count(collection.CountOfDocuments)} documents, ${bytes(collection.Size.SizeInBytes)}`}
              {...(chosen?.toLowerCase() === collection.Name.toLowerCase() ? { "aria-current": "true" } : {})}
            >
              <span>{collection.Name === "@empty" ? "no collection" : collection.Name}</span>
              <span class="number quiet">{count(collection.CountOfDocuments)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
