import { useSignalEffect } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { lazy } from "./shell/lazy"
import { followLive } from "./shell/live"
import { route } from "./shell/route"
import { refreshSession, session } from "./shell/session"

const pages: Record<string, ReturnType<typeof lazy>> = {
  "": lazy(async () => (await import("./overview/page")).OverviewPage),
  io: lazy(async () => (await import("./timeline/page")).TimelinePage),
  documents: lazy(async () => (await import("./documents/page")).DocumentsPage),
  document: lazy(async () => (await import("./documents/document-page")).DocumentPage),
  query: lazy(async () => (await import("./query/page")).QueryPage),
  indexes: lazy(async () => (await import("./indexes/page")).IndexesPage),
  cluster: lazy(async () => (await import("./cluster/page")).ClusterPage),
  node: lazy(async () => (await import("./node/page")).NodePage),
  logs: lazy(async () => (await import("./node/logs-page")).LogsPage),
  settings: lazy(async () => (await import("./node/settings-page")).SettingsPage),
  alerts: lazy(async () => (await import("./node/alerts-page")).AlertsPage),
}

export function App() {
  useEffect(() => {
    followLive()
    void refreshSession()
  }, [])
  useSignalEffect(() => {
    document.title = session.value?.NodeName ? `${session.value.NodeName} · Rookery` : "Rookery"
  })
  const Page = pages[route.value.page]
  return (
    <main>
      {Page ? (
        <Page />
      ) : (
        <p>
          There is no such page. <a href="#/">To the overview.</a>
        </p>
      )}
    </main>
  )
}
