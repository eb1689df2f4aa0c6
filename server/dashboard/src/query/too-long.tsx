import { count } from "../shell/format"
import { Button } from "../shell/parts"

/** The node's limit of a query's text. */
export const LongestQuery = 256 << 10

/** Browsers show a longer text slowly or not at all. */
export const LongestParameters = 1_000_000

interface TooLongProps {
  /** The name of the text, such as "This query". */
  what: string
  length: number
  /** The consequence, in a sentence or two. */
  help: string
  onEmpty: () => void
}

/** Shown instead of an editor if the text is too long for it. */
export function TooLong({ what, length, help, onEmpty }: TooLongProps) {
  return (
    <div class="error-sentence" role="alert">
      <span>
        {what} has {count(length)} characters, which is too long to be shown and edited here. {help}
      </span>
      <Button onClick={onEmpty}>Empty it</Button>
    </div>
  )
}
