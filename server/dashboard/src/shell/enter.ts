import { signal } from "@preact/signals"
import { sentenceOf } from "./error-sentence"
import { enterByKiosk } from "./kiosk"
import { followLive } from "./live"
import { refreshSession } from "./session"

const RetryMilliseconds = 2000

/** Why nobody knows yet who this browser is, or why its kiosk link does not hold; empty while all is well. */
export const lost = signal("")

/** Asks the node who this browser is, again and again until it says so; from then on the live state is followed. */
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
