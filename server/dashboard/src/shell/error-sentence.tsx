import { Button } from "./button"

/** The sentence of whatever was thrown. */
export function sentenceOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}

/** Says what went wrong, and offers to try again; nothing while nothing is wrong. */
export function ErrorSentence({ of, retry }: { of: unknown; retry?: () => unknown }) {
  if (of === null || of === undefined || of === "") return null
  return (
    <div class="error-sentence" role="alert">
      <span>{sentenceOf(of)}</span>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}
