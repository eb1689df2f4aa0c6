import { useSignal } from "@preact/signals"
import { Icon, type IconName } from "./icons"
import { live } from "./live"
import { route } from "./route"
import { isKiosk, may } from "./session"

interface Place {
  page: string
  title: string
  icon: IconName
  /** Absent if the page is open to all. */
  scope?: string
  /** Other pages of this item. */
  also?: string[]
  /** Whether the item is in the bar at the bottom of a phone. The others are in the sheet "More". */
  first?: boolean
}

const places: Place[] = [
  { page: "", title: "Overview", icon: "overview", scope: "metrics", also: ["node"], first: true },
  { page: "io", title: "IO timeline", icon: "io", scope: "metrics", first: true },
  { page: "documents", title: "Documents", icon: "documents", scope: "read", also: ["document"], first: true },
  { page: "query", title: "Query", icon: "query", scope: "read" },
  { page: "indexes", title: "Indexes", icon: "indexes", scope: "read" },
  { page: "cluster", title: "Cluster", icon: "cluster", scope: "admin", first: true },
  { page: "alerts", title: "Alerts", icon: "alerts", scope: "metrics" },
  { page: "logs", title: "Logs", icon: "logs", scope: "admin" },
  { page: "settings", title: "Settings", icon: "settings", scope: "admin" },
  { page: "help", title: "Help", icon: "help" },
]

// A screen on the wall shows figures, and nobody reads there.
const HiddenInKiosk = new Set(["alerts", "help"])

/** The navigation: a row below the header, on a phone a bar at the bottom with a sheet for the other items. */
export function Navigation() {
  const isOpen = useSignal(false)
  const offered = places.filter((place) => (!place.scope || may(place.scope)) && !(isKiosk.value && HiddenInKiosk.has(place.page)))
  const at = route.value.page
  const isHere = (place: Place) => place.page === at || (place.also?.includes(at) ?? false)
  const rest = offered.filter((place) => !place.first)
  const close = () => {
    isOpen.value = false
  }
  return (
    <nav
      class="navigation"
      aria-label="Pages"
      onKeyDown={(event) => {
        if (event.key === "Escape") close()
      }}
    >
      <ul class={isOpen.value ? "open" : ""}>
        {offered.map((place) => (
          <li key={place.page} class={place.first ? "first" : "rest"}>
            <a href={`#/${place.page}`} onClick={close} {...(isHere(place) ? { "aria-current": "page" } : {})}>
              <Icon name={place.icon} />
              <span>{place.title}</span>
              {place.page === "alerts" && <Firing />}
            </a>
          </li>
        ))}
        {rest.length > 0 && (
          <li class="more">
            <button
              type="button"
              class={rest.some(isHere) ? "here" : ""}
              aria-expanded={isOpen.value}
              onClick={() => {
                isOpen.value = !isOpen.value
              }}
            >
              <Icon name="more" />
              <span>More</span>
            </button>
          </li>
        )}
      </ul>
      {isOpen.value && <button type="button" class="veil" aria-label="Close the menu" tabIndex={-1} onClick={close} />}
    </nav>
  )
}

function Firing() {
  const alerts = live.value?.Alerts ?? []
  if (alerts.length === 0) return null
  const tone = alerts.some((alert) => alert.Severity === "critical") ? "bad" : "warning"
  return (
    <span class={`tag ${tone}`}>
      {alerts.length}
      <span class="unseen"> firing</span>
    </span>
  )
}
