import type { Alert } from "../shell/live"

/** The titles of alerts. An alert that only a newer node knows gets its name as the title. */
export const Titles: Readonly<Record<string, string>> = {
  node_silent: "A node is silent",
  not_serving: "A node serves no documents",
  halted: "A node takes no part any more",
  no_writes: "Nothing is written",
  damage: "A card changed data",
  disk_full: "A card is full",
  under_voltage: "Too little voltage",
  no_margin: "No further failure is tolerated",
  member_down: "A member does not answer",
  member_lag: "A member lags",
  sync_slow: "A card is slow",
  disk_low: "A card fills up",
  card_worn: "A card is worn",
  throttled: "A board is throttled",
  hot: "A board is hot",
  storage_fails: "A card cannot be written",
  index_trouble: "An index is in trouble",
  redis_unknown: "Outcomes for Redis clients are unknown",
  redis_refused: "Redis clients are refused",
  redis_slow_clients: "Redis clients do not read",
  clock_in_doubt: "The time is in doubt",
  clock_off: "A clock is wrong",
  certificate_ends: "A certificate ends soon",
  backup_old: "There is no recent backup",
  slot_not_committed: "An update is on trial",
  slot_fell_back: "An update was taken back",
  packages_old: "System packages are old",
  machine_unseen: "A node cannot see its machine",
}

/** Returns the title of an alert by its name. */
export function titleOfAlert(name: string): string {
  const words = name.replaceAll("_", " ")
  return Titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** Alerts of one name, which one card of the page shows. */
export interface AlertGroup {
  name: string
  severity: Alert["Severity"]
  /** The longest first. */
  alerts: Alert[]
}

/** Returns the firing alerts by name: critical ones first, then those that have fired longest. */
export function groupsOf(alerts: readonly Alert[]): AlertGroup[] {
  const groups = new Map<string, AlertGroup>()
  for (const alert of [...alerts].sort((left, right) => left.Since.localeCompare(right.Since))) {
    const group = groups.get(alert.Name) ?? { name: alert.Name, severity: alert.Severity, alerts: [] }
    group.alerts.push(alert)
    if (alert.Severity === "critical") group.severity = "critical"
    groups.set(alert.Name, group)
  }

  return [...groups.values()].sort((left, right) => Number(right.severity === "critical") - Number(left.severity === "critical"))
}
