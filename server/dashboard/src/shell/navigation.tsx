import { useSignal } from "@preact/signals"
import { Icon, type IconName } from "./icons"
import { live } from "./live"
import { route } from "./route"
import { isKiosk, may } from "./session"
import { useSheet } from "./sheets"

interface Place {
  page: string
  title: string
  icon: IconName
  /** Heading of the item's group, shown where there is room for headings; undefined for the first item. */
  group?: string
  /** Absent if the page is open to all. */
  scope?: string
  /** Other pages of this item. */
  also?: string[]
  /** Whether the item is in the bar at the bottom of a phone. The others are in the sheet "More". */
  first?: boolean
}

const places: Place[] = [
  { page: "", title: "Overview", icon: "overview", scope: "metrics", also: ["node"], first: true },
  { page: "documents", title: "Documents", icon: "documents", group: "Data", scope: "read", also: ["document", "database"], first: true },
  { page: "query", title: "Query", icon: "query", group: "Data", scope: "read" },
  { page: "indexes", title: "Indexes", icon: "indexes", group: "Data", scope: "read" },
  { page: "cluster", title: "Cluster", icon: "cluster", group: "Cluster", scope: "admin", first: true },
  { page: "io", title: "IO timeline", icon: "io", group: "Cluster", scope: "metrics", first: true },
  { page: "alerts", title: "Alerts", icon: "alerts", group: "Cluster", scope: "metrics" },
  { page: "logs", title: "Logs", icon: "logs", group: "System", scope: "admin" },
  { page: "settings", title: "Settings", icon: "settings", group: "System", scope: "admin" },
  { page: "help", title: "Help", icon: "help", group: "System" },
]

// Pages of text, which a screen on the wall does not show.
const HiddenInKiosk = new Set(["alerts", "help"])

/** Returns the pages that the caller may open. */
export function offeredPlaces(): Place[] {
  return places.filter((place) => (!place.scope || may(place.scope)) && !(isKiosk.value && HiddenInKiosk.has(place.page)))
}

/**
 * The navigation: a column of groups beside the page, on a narrow screen a row below the header, and on a phone a bar at
 * the bottom with a sheet for the other items.
 */
export function Navigation() {
  const isOpen = useSignal(false)
  const offered = offeredPlaces()
  const at = route.value.page
  const isHere = (place: Place) => place.page === at || (place.also?.includes(at) ?? false)
  const rest = offered.filter((place) => !place.first)
  const close = () => {
    isOpen.value = false
  }
  const goInstead = useSheet(close, isOpen.value)
  return (
    <nav
      class="navigation"
      aria-label="Pages"
      onKeyDown={(event) => {
        if (event.key === "Escape") close()
      }}
    >
      <ul class={isOpen.value ? "open" : ""}>
        {offered.map((place, at) => (
          <li key={place.page} class={place.first ? "first" : "rest"}>
            {place.group && place.group !== offered[at - 1]?.group && <span class="group">{place.group}</span>}
            <a
              href={`#/${place.page}`}
              onClick={(event) => {
                if (!isOpen.value || event.ctrlKey || event.metaKey || event.shiftKey) return
                event.preventDefault()
                goInstead(`#/${place.page}`)
                close()
              }}
              {...(isHere(place) ? { "aria-current": "page" } : {})}
            >
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
