import { Refusal, send } from "./request"

const Prefix = "#kiosk="

/**
 * A kiosk's link brings its token in the fragment, which no server and no log sees. It becomes a session, and goes from the address and the history before anything else.
 * Gives the sentence why it was refused, or nothing.
 */
export async function enterByKiosk(): Promise<string> {
  if (!location.hash.startsWith(Prefix)) return ""
  const token = decodeURIComponent(location.hash.slice(Prefix.length))
  try {
    await send("/session", { method: "POST", body: { Token: token } })
  } catch (failure) {
    // A node that does not answer is asked again with the same link.
    if (!(failure instanceof Refusal) || failure.status === 0) throw failure
    drop()
    return `This kiosk link does not hold: ${failure.message}`
  }

  drop()
  return ""
}

function drop(): void {
  history.replaceState(null, "", "#/")
  dispatchEvent(new HashChangeEvent("hashchange"))
}
