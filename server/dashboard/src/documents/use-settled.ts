import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"

const LongText = 100_000
const SettleMilliseconds = 400

/** A text as it is, or, of a long one, as it was when the last pause in typing began: reading megabytes at each key would hold the keys up. */
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
