import { signal } from "@preact/signals"
import { toast } from "../shell/parts"

/** A text that was left without saving, and the version that it was made of; null for a new document. */
export interface Draft {
  text: string
  changeVector: string | null
  /** Whether it is to be saved once it can be. */
  isSaveWanted?: boolean
}

/** By the address of their page; until the page is closed. */
const drafts = new Map<string, Draft>()

/** How often a text was given back to the page that is open: each time that page begins anew. */
export const draftsGivenBack = signal(0)

/** Keeps a text for the page that comes. */
export function keepDraft(address: string, draft: Draft): void {
  drafts.set(address, draft)
}

/** What was left on a page, once. */
export function takeDraft(address: string): Draft | undefined {
  const draft = drafts.get(address)
  drafts.delete(address)
  return draft
}

/** Says that a text was left without saving, and leads back to it. */
export function offerDraft(address: string, name: string, draft: Draft): void {
  toast(`${name} was left without saving.`, {
    undo: async () => {
      drafts.set(address, draft)
      if (location.hash === address) draftsGivenBack.value++
      else location.hash = address
    },
  })
}
