/** A sentence of the node, in which parts between backticks are code. */
export function InlineCode({ text }: { text: string }) {
  // Every second part is between two backticks. A last backtick without another is shown as it is.
  const parts = text.split("`")
  if (parts.length % 2 === 0) parts.push(`\`${parts.pop() ?? ""}`)
  const isCode = (at: number) => at % 2 === 1 && at < parts.length - 1
  return <>{parts.map((part, at) => (isCode(at) ? <code key={at}>{part}</code> : part))}</>
}
