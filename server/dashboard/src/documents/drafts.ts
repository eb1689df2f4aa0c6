import { toast } from "../shell/parts"

/** A text that was left without saving, and the version that it was made of; null for a new document. */
export interface Draft {
  text: string
  changeVector: string | null
}

/** By the address of their page; until the page is closed. */
const drafts = new Map<string, Draft>()

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
      location.hash = address
    },
  })
}
