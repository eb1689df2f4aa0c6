import { Button } from "./button"
import { duration } from "./format"
import { Rook } from "./icons"
import { ageSeconds, isBroken, isLive, live } from "./live"
import { HelpOfPages, manualHref } from "./manual-href"
import { PaletteOpener } from "./palette-opener"
import { route } from "./route"
import { isKiosk, session, signOut } from "./session"
import { ThemeSwitch } from "./theme-switch"
import { toast } from "./toast"

/** The header: the cluster, the node that serves the page, and whether the live stream works. */
export function Header() {
  const { ClusterName = "", NodeName = "", SignedIn = false, By = null, Name = null } = session.value ?? {}
  return (
    <header class="header">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // Prevents navigation, because a fragment is a location in this page.
          event.preventDefault()
          document.getElementById("main")?.focus()
        }}
      >
        To the content
      </a>
      <a class="brand" href="#/">
        <Rook />
        <strong>{ClusterName || NodeName || "Rookery"}</strong>
        <span class="unseen">, overview</span>
      </a>
      {NodeName && NodeName !== ClusterName && <span class="quiet seen-from">through {NodeName}</span>}
      <div class="header-end">
        {SignedIn && !isKiosk.value && <PaletteOpener />}
        {SignedIn && <Connection />}
        {!isKiosk.value && <ThemeSwitch />}
        <HelpLink isSignedIn={SignedIn} />
        {SignedIn && By === "session" && !isKiosk.value && (
          <Button
            kind="plain"
            title={Name ? `Signed in with the token '${Name}'` : ""}
            onClick={async () => {
              try {
                await signOut()
              } catch {
                toast("Not signed out: this node does not answer. Your session ends by itself after 12 hours without use.", { tone: "bad" })
              }
            }}
          >
            Sign out
          </Button>
        )}
      </div>
    </header>
  )
}

/** The link from a page to its place in the manual; on the manual's own pages without a session, back to the sign-in. */
function HelpLink({ isSignedIn }: { isSignedIn: boolean }) {
  if (isKiosk.value) return null
  const { page } = route.value
  if (page === "help") {
    return isSignedIn || !session.value ? null : (
      <a class="button plain" href="#/">
        Sign in
      </a>
    )
  }

  const address = isSignedIn ? HelpOfPages[page] : "/help/how-to/give-access.md"
  return (
    <a class="round" href={manualHref(address ?? "/help")} title="Help for this page" aria-label="Help for this page">
      ?
    </a>
  )
}

function Connection() {
  if (live.value === null) return null
  return (
    <span
      title={session.value ? `Seen through ${session.value.NodeName}` : ""}
      class={`connection ${isLive.value ? "on" : "off"}`}
      role="status"
    >
      <span class="dot" aria-hidden="true" />
      {isLive.value ? "live" : !isBroken.value ? "connecting" : `as of ${duration(ageSeconds.value)} ago`}
    </span>
  )
}
