import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"

const LongText = 100_000
const SettleMilliseconds = 400

/**
 * Returns a text with a delay: a short text at once, a long one when typing pauses. Parsing megabytes at each key would
 * slow down typing.
 */
export function useSettled(text: string): string {
  const settled = useSignal(text)
  const isLong = text.length > LongText
  useEffect(() => {
    if (!isLong) {
      settled.value = text
      return
    }

    const timer = setTimeout(() => {
      settled.value = text
    }, SettleMilliseconds)
    return () => clearTimeout(timer)
  }, [text])
  return isLong ? settled.value : text
}
