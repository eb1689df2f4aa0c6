import { live } from "../shell/live"
import { route } from "../shell/route"
import { session } from "../shell/session"
import { Tabs } from "../shell/tabs"
import { Authority } from "./authority"
import { Backups } from "./backups"
import { Certificates } from "./certificates"
import { Clock } from "./clock"
import { DebugPackages } from "./debug-packages"
import { Members } from "./members"
import { Tokens } from "./tokens"
import { Upgrade } from "./upgrade"
import "./cluster.css"

const tabs = [
  { id: "members", title: "Members" },
  { id: "access", title: "Access" },
  { id: "backups", title: "Backups" },
  { id: "care", title: "Upkeep" },
] as const

type Tab = (typeof tabs)[number]["id"]

/** The page of the cluster: members, access, and maintenance. */
export function ClusterPage() {
  const chosen = tabs.find((tab) => tab.id === route.value.parts[0])?.id ?? "members"
  const name = session.value?.ClusterName || session.value?.NodeName
  return (
    <div class="stack">
      <div class="title-row">
        <h1>{live.value?.Cluster ? `Cluster ${name}` : `Node ${name}`}</h1>
      </div>
      <Tabs<Tab>
        label="Parts of the cluster"
        tabs={tabs}
        chosen={chosen}
        onChoose={(id) => {
          location.hash = `#/cluster/${id}`
        }}
      >
        <div class="stack tab-content">
          {chosen === "members" && <Members />}
          {chosen === "access" && (
            <>
              <Tokens />
              <Certificates />
              <Authority />
            </>
          )}
          {chosen === "backups" && <Backups />}
          {chosen === "care" && (
            <div class="masonry">
              <Upgrade />
              <Clock />
              <DebugPackages />
            </div>
          )}
        </div>
      </Tabs>
    </div>
  )
}
