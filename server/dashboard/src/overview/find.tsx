import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Button } from "../shell/button"
import { sentenceOf } from "../shell/error-sentence"
import type { LiveNode } from "../shell/live"
import { send } from "../shell/request"
import { toast } from "../shell/toast"

const BlinkSeconds = 30

/** A button that blinks the LED of a node's board, so that the user finds it. */
export function Find({ node }: { node: LiveNode }) {
  const left = useSignal(0)
  useEffect(() => {
    if (left.value === 0) return
    const timer = setTimeout(() => {
      left.value--
    }, 1000)
    return () => clearTimeout(timer)
  }, [left.value])
  return (
    <Button
      kind="plain"
      label={`Find ${node.Name}: blink its LED`}
      disabled={left.value > 0}
      onClick={async () => {
        try {
          await send(`/admin/node/find?node=${encodeURIComponent(node.Tag)}&seconds=${BlinkSeconds}`, { method: "POST" })
          left.value = BlinkSeconds
          toast(`${node.Name} blinks its green LED for ${BlinkSeconds} seconds.`, { tone: "good" })
        } catch (failure) {
          toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
        }
      }}
    >
      {left.value > 0 ? `Blinking ${left.value}` : "Find"}
    </Button>
  )
}
