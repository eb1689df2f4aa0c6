import type { Order } from "./listing"

const Key = "rookery.order"

type Memory = Pick<Storage, "getItem" | "setItem">

/**
 * The order that was chosen last for these documents. All documents are listed newest first by the node itself. In a
 * collection that needs an index, so the choice holds for this collection only: looking at another one makes none.
 */
export function orderOf(storage: Memory, database: string, collection: string | null): Order {
  const first = collection === null ? "newest" : "plain"
  try {
    const stored = storage.getItem(keyOf(database, collection))
    return stored === "newest" || stored === "plain" ? stored : first
  } catch {
    return first
  }
}

export function rememberOrder(storage: Memory, database: string, collection: string | null, order: Order): void {
  try {
    storage.setItem(keyOf(database, collection), order)
  } catch {
    // The choice holds until the page is left.
  }
}

function keyOf(database: string, collection: string | null): string {
  return collection === null ? `${Key} all` : `${Key} collection ${JSON.stringify([database, collection.toLowerCase()])}`
}
