import { useSignalEffect } from "@preact/signals"
import type { ComponentType } from "preact"
import { OverviewPage } from "./overview/page"
import { Empty } from "./shell/empty"
import { Frame } from "./shell/frame"
import { lazy } from "./shell/lazy"
import { nodeOf } from "./shell/live"
import { route } from "./shell/route"
import { may, session } from "./shell/session"
import { part, titleOf } from "./shell/title"

/** The pages, by the first part of their address. A page without a scope is open to all, also without a session. */
const pages: Record<string, { Page: ComponentType & { prefetch?: () => void }; scope?: string }> = {
  "": { scope: "metrics", Page: OverviewPage },
  io: { scope: "metrics", Page: lazy(async () => (await import("./timeline/page")).TimelinePage) },
  documents: { scope: "read", Page: lazy(async () => (await import("./documents/page")).DocumentsPage) },
  document: { scope: "read", Page: lazy(async () => (await import("./documents/document-page")).DocumentPage) },
  database: { scope: "read", Page: lazy(async () => (await import("./database/page")).DatabasePage) },
  query: { scope: "read", Page: lazy(async () => (await import("./query/page")).QueryPage) },
  indexes: { scope: "read", Page: lazy(async () => (await import("./indexes/page")).IndexesPage) },
  cluster: { scope: "admin", Page: lazy(async () => (await import("./cluster/page")).ClusterPage) },
  node: { scope: "metrics", Page: lazy(async () => (await import("./node/page")).NodePage) },
  logs: { scope: "admin", Page: lazy(async () => (await import("./node/logs-page")).LogsPage) },
  settings: { scope: "admin", Page: lazy(async () => (await import("./node/settings-page")).SettingsPage) },
  alerts: { scope: "metrics", Page: lazy(async () => (await import("./node/alerts-page")).AlertsPage) },
  help: { Page: lazy(async () => (await import("./manual/page")).ManualPage) },
}

// Loads the page while the session is being read.
pages[route.value.page]?.Page.prefetch?.()

export function App() {
  useSignalEffect(() => {
    const { SignedIn = false, ClusterName = "", NodeName = "" } = session.value ?? {}
    const place = ClusterName || NodeName
    const isShown = SignedIn || route.value.page === "help"
    document.title = isShown ? titleOf(route.value, place, part.value, (tag) => nodeOf(tag)?.Name ?? tag) : place || "Rookery"
  })
  const place = pages[route.value.page]
  return (
    <Frame isOpen={place !== undefined && place.scope === undefined}>
      <Page />
    </Frame>
  )
}

function Page() {
  const place = pages[route.value.page]
  if (!place) {
    return (
      <Empty title="There is no such page.">
        <h1 class="unseen">No such page</h1>
        <a href="#/">To the overview</a>
      </Empty>
    )
  }

  if (place.scope && !may(place.scope)) {
    return (
      <Empty title="Your token does not open this page.">
        <h1 class="unseen">Not for your token</h1>
        The page needs a token with the scope <code>{place.scope}</code>. A person with an admin token can create one on the cluster page.
      </Empty>
    )
  }

  return <place.Page key={route.value.page} />
}
