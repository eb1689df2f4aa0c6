import { signal } from "@preact/signals"
import { toast } from "../shell/parts"
import { holdPage, releasePage } from "../shell/unsaved"

/**
 * A text that the user left without saving, and the change vector of the version that it is based on; null for a new
 * document.
 */
export interface Draft {
  /** The document's id; for a new one as it was typed. */
  id: string
  text: string
  changeVector: string | null
  /** Whether to save the text as soon as possible. */
  isSaveWanted?: boolean
}

/** Drafts by the address of their page. They are kept in memory until the browser's page is closed. */
const drafts = new Map<string, Draft>()

/** Number of drafts that were restored to the open page. The page restarts at each change. */
export const restoredDrafts = signal(0)

/** Keeps a draft for the page with an address. */
export function keepDraft(address: string, draft: Draft): void {
  drafts.set(address, draft)
  holdPage(drafts)
}

export function hasDraft(address: string): boolean {
  return drafts.has(address)
}

/** Returns and removes the draft of a page. */
export function takeDraft(address: string): Draft | undefined {
  const draft = drafts.get(address)
  drafts.delete(address)
  if (drafts.size === 0) releasePage(drafts)
  return draft
}

/** Shows a message that a text was left without saving, with a button that restores it. */
export function offerDraft(address: string, name: string, draft: Draft): void {
  toast(`${name} was left without saving.`, {
    undo: async () => {
      keepDraft(address, draft)
      if (location.hash === address) restoredDrafts.value++
      else location.hash = address
    },
  })
}
