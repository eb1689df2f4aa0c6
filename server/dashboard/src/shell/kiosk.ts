import { Refusal, send } from "./request"

const Prefix = "#kiosk="

/** The token of a kiosk link, until the node has accepted or refused it; null without one. */
let token: string | null = null

// At once, because the node may not answer for long, and a screen on the wall shows the address.
takeKioskLink()

/**
 * Removes a kiosk link from the address and the history, and keeps its token for {@link enterByKiosk}. The token is in
 * the URL's fragment, which reaches no server and no log. Returns whether the address was such a link.
 */
export function takeKioskLink(): boolean {
  const { hash } = location
  if (!hash.startsWith(Prefix)) return false
  history.replaceState(null, "", "#/")
  try {
    token = decodeURIComponent(hash.slice(Prefix.length))
  } catch {
    // The link was truncated within an escape. The node refuses what is left.
    token = hash.slice(Prefix.length)
  }

  return true
}

/**
 * Signs in by the token of a kiosk link. Returns the reason of a refusal; empty if there is none. Throws if the node
 * cannot decide now, for example while it reads its journal: the caller tries again.
 */
export async function enterByKiosk(): Promise<string> {
  const sent = token
  if (sent === null) return ""
  let refused = ""
  try {
    await send("/session", { method: "POST", body: { Token: sent } })
  } catch (failure) {
    if (!(failure instanceof Refusal) || ![400, 401, 403].includes(failure.status)) throw failure
    refused = `This kiosk link is not valid: ${failure.message}`
  }

  // Another link may have been opened meanwhile.
  if (token === sent) token = null
  return refused
}
