import { signal } from "@preact/signals"
import { sentenceOf } from "./error-sentence"
import { enterByKiosk, takeKioskLink } from "./kiosk"
import { followLive } from "./live"
import { refreshSession } from "./session"

const RetryMilliseconds = 2000

/** Why the session could not be read yet, or why a kiosk link was refused; empty if neither. */
export const lost = signal("")

let retry: ReturnType<typeof setTimeout> | undefined
let isFollowing = false

/** Reads this browser's session from the node, with retries, and then follows the live state. */
export async function enter(): Promise<void> {
  clearTimeout(retry)
  try {
    const refused = await enterByKiosk()
    await refreshSession()
    lost.value = refused
    if (!isFollowing) followLive()
    isFollowing = true
  } catch (failure) {
    lost.value = `${sentenceOf(failure)} Trying again …`
    retry = setTimeout(enter, RetryMilliseconds)
  }
}

// A kiosk link that is opened where this page is shown already changes only the fragment.
addEventListener("hashchange", () => {
  if (takeKioskLink()) void enter()
})
