import { Button } from "./button"

/** Returns the message of an error of any type. */
export function sentenceOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}

/** Shows an error with a button to retry; nothing without an error. */
export function ErrorSentence({ of, retry }: { of: unknown; retry?: () => unknown }) {
  if (of === null || of === undefined || of === "") return null
  return (
    <div class="error-sentence" role="alert">
      <span>{sentenceOf(of)}</span>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}
