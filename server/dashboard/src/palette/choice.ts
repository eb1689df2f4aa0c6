import type { Item } from "./rank"

/**
 * Returns where the chosen item is; the first if there is none of its key. By its key, because items that arrive before
 * it change its number, and Enter must open the one that is shown as chosen.
 */
export function placeOfChosen(items: readonly Pick<Item, "key">[], chosen: string | null): number {
  return Math.max(
    0,
    items.findIndex(({ key }) => key === chosen),
  )
}

/** Returns the id of an item's element: unique, and without the signs that an id must not have. */
export function optionId(list: string, key: string): string {
  return `${list}-${key.replace(/[^A-Za-z0-9-]/g, (sign) => `_${sign.charCodeAt(0).toString(16)}_`)}`
}
