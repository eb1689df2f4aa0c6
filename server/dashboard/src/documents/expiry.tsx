import { duration } from "../shell/format"
import { Tag } from "../shell/parts"

/** Shows when a document expires; nothing if it does not. */
export function Expiry({ at }: { at: string | null }) {
  if (at === null) return null
  const left = (Date.parse(at) - Date.now()) / 1000
  if (Number.isNaN(left)) return null
  return (
    <Tag tone="warning" title={`@expires: ${at}`}>
      {left > 0 ? `expires in ${duration(left)}` : "expired: deleted within a minute"}
    </Tag>
  )
}
