import type { Item } from "./rank"

/**
 * Returns the position of the item with the chosen key, or 0 if there is none. Items are identified by key, because
 * items that arrive later may be listed before the chosen one, and Enter must open the item that is shown as chosen.
 */
export function placeOfChosen(items: readonly Pick<Item, "key">[], chosen: string | null): number {
  return Math.max(
    0,
    items.findIndex(({ key }) => key === chosen),
  )
}

/** Returns the id of an item's element: unique, and without the characters that an id must not have. */
export function optionId(list: string, key: string): string {
  return `${list}-${key.replace(/[^A-Za-z0-9-]/g, (sign) => `_${sign.charCodeAt(0).toString(16)}_`)}`
}
