import type { Order } from "./listing"

const Key = "rookery.order"

type Memory = Pick<Storage, "getItem" | "setItem">

/**
 * Returns the order that was chosen last for these documents. The node itself lists all documents newest first. In a
 * collection this order needs an index. So a choice holds only for its collection, and opening another collection
 * creates no index.
 */
export function orderOf(storage: Memory, database: string, collection: string | null): Order {
  const first = collection === null ? "newest" : "plain"
  const stored = storage.getItem(keyOf(database, collection))
  if (stored === "newest" || stored === "plain") return stored
  return collection !== null && stored?.startsWith("by ") ? (stored as Order) : first
}

export function rememberOrder(storage: Memory, database: string, collection: string | null, order: Order): void {
  storage.setItem(keyOf(database, collection), order)
}

function keyOf(database: string, collection: string | null): string {
  return collection === null ? `${Key} all` : `${Key} collection ${JSON.stringify([database, collection.toLowerCase()])}`
}
