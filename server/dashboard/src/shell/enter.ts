import { signal } from "@preact/signals"
import { sentenceOf } from "./error-sentence"
import { enterByKiosk } from "./kiosk"
import { followLive } from "./live"
import { refreshSession } from "./session"

const RetryMilliseconds = 2000

/** Why the session could not be read yet, or why a kiosk link was refused; empty if neither. */
export const lost = signal("")

/** Reads this browser's session from the node, with retries, and then follows the live state. */
export async function enter(): Promise<void> {
  try {
    const refused = await enterByKiosk()
    await refreshSession()
    lost.value = refused
    followLive()
  } catch (failure) {
    lost.value = `${sentenceOf(failure)} Trying again …`
    setTimeout(enter, RetryMilliseconds)
  }
}
