import { holdPage, releasePage } from "../shell/unsaved"
import type { IndexDefinition } from "./definition"

/** A definition that was changed and not saved, and the one that it is based on: the stored one, or a template. */
export interface DefinitionDraft {
  base: IndexDefinition
  definition: IndexDefinition
}

/** Drafts by database and index. They are kept in memory until they are saved or discarded, or the browser's page is closed. */
const drafts = new Map<string, DefinitionDraft>()

const keyOf = (database: string, index: string) => JSON.stringify([database.toLowerCase(), index.toLowerCase()])

/** Returns the draft of an index; for a new one the name is empty. */
export function draftOf(database: string, index: string): DefinitionDraft | undefined {
  return drafts.get(keyOf(database, index))
}

export function keepDefinition(database: string, index: string, draft: DefinitionDraft): void {
  drafts.set(keyOf(database, index), draft)
  holdPage(drafts)
}

export function dropDefinition(database: string, index: string): void {
  drafts.delete(keyOf(database, index))
  if (drafts.size === 0) releasePage(drafts)
}
