import { count } from "../shell/format"
import { Button } from "../shell/parts"

/** The node takes no longer text of a query. */
export const LongestQuery = 256 << 10

/** Browsers show a longer text slowly, or not at all. */
export const LongestParameters = 1_000_000

interface TooLongProps {
  /** What it is, and how long, such as "This query". */
  what: string
  length: number
  /** What follows from that, in a sentence or two. */
  help: string
  onEmpty: () => void
}

/** In the place of an editor for a text that is too long for it. */
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
