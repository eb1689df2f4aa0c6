import { Refusal, send } from "./request"

const Prefix = "#kiosk="

/**
 * Signs in by a kiosk link. Its token is in the URL's fragment, which reaches no server and no log. First removes it
 * from the address and the history. Returns the reason of a refusal; empty if there is none.
 */
export async function enterByKiosk(): Promise<string> {
  if (!location.hash.startsWith(Prefix)) return ""
  const token = decodeURIComponent(location.hash.slice(Prefix.length))
  try {
    await send("/session", { method: "POST", body: { Token: token } })
  } catch (failure) {
    // If the node does not answer, the caller retries with the same link.
    if (!(failure instanceof Refusal) || failure.status === 0) throw failure
    drop()
    return `This kiosk link is not valid: ${failure.message}`
  }

  drop()
  return ""
}

function drop(): void {
  history.replaceState(null, "", "#/")
  dispatchEvent(new HashChangeEvent("hashchange"))
}
