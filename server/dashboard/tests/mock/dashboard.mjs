// The answers of the routes that only the dashboard uses: state, history, slow events, alerts.
import { began, diedAt, eventsBetween, nodes, rollUpsBetween, round, sampleAt } from "./figures.mjs"

const alertList = [
  [
    "no_margin",
    "warning",
    "rookery_cluster_voters - count(rookery_cluster_member_reachable == 0) <= 2",
    60,
    "{node} is off; the cluster tolerates no further failure.",
    "Start {node} again, or replace it.",
  ],
  [
    "no_writes",
    "critical",
    "rookery_cluster_has_leader == 0",
    15,
    "No leader: nothing is written.",
    "Start one of the members that are off.",
  ],
  [
    "member_down",
    "warning",
    "rookery_cluster_member_reachable == 0",
    60,
    "{node} has not answered for a minute.",
    "Look at its power and its card. `rookery cluster node ls` shows when it last answered.",
  ],
  [
    "sync_slow",
    "warning",
    'rookery_io_recent_seconds{kind="journal_sync",quantile="0.99"} > 0.1',
    300,
    "{node} syncs slowly: 99 % within 131 ms.",
    "Is the card worn or fake? Try another; a USB drive is better.",
  ],
  [
    "hot",
    "warning",
    "rookery_board_temperature_celsius > 75",
    120,
    "{node} is hot: 81 °C.",
    "Give it air: heat makes it wait. Background work pauses until it is below 75 °C.",
  ],
  [
    "throttled",
    "warning",
    'rookery_board_throttled{when="now"} == 1',
    30,
    "{node} is throttled by its firmware.",
    "Cool it, and look at its power supply.",
  ],
  [
    "disk_low",
    "critical",
    "rookery_disk_free_bytes < rookery_disk_reserve_bytes",
    60,
    "{node} has reached its reserve of space.",
    "Delete documents, or give it a larger card.",
  ],
  [
    "card_worn",
    "warning",
    "rookery_board_life_used_ratio > 0.8",
    3600,
    "{node}'s card has used 82 % of its life.",
    "Replace the card before it ends.",
  ],
  [
    "backup_old",
    "warning",
    "time() - rookery_backup_last_success_timestamp_seconds > 259200",
    3600,
    "The last backup was taken 4 days ago.",
    "Take one: ansible-playbook rookery.cluster.backup",
  ],
].map(([Name, Severity, Expression, ForSeconds, Sentence, Fix]) => ({
  Name,
  Severity,
  Expression,
  ForSeconds,
  Sentence,
  Fix,
  Help: "/help/reference/alerts.md",
}))

export const alertsPage = () => ({ Alerts: alertList })

const firing = {
  well: [],
  alone: [],
  full: [],
  "one-dead": [
    ["member_down", "C", 1320],
    ["no_margin", "C", 1320],
  ],
  "no-quorum": [
    ["no_writes", "A", 90],
    ["member_down", "B", 35],
    ["member_down", "C", 1320],
  ],
  hot: [
    ["hot", "B", 610],
    ["throttled", "B", 480],
  ],
}

export function alertsOf(scenario) {
  return firing[scenario].map(([name, tag, seconds]) => {
    const { Name, Severity, Sentence, Fix, Help } = alertList.find((one) => one.Name === name)
    const say = (text) => text.replace("{node}", nodes.find((node) => node.Tag === tag).Name)
    return {
      Name,
      Severity,
      Node: tag,
      Since: new Date((began - seconds) * 1000).toISOString(),
      Sentence: say(Sentence),
      Fix: say(Fix),
      Help,
      Member: null,
    }
  })
}

const health = {
  well: ["ok", "All 3 nodes are well; the cluster tolerates the failure of any one of them."],
  full: [
    "error",
    "Nothing new can be written: all 3 cards are full. Documents can be read and deleted; free some space, or give them larger cards.",
  ],
  alone: ["ok", "This node is well. It is alone: what is on its card is nowhere else but in your backups."],
  "one-dead": ["warning", "Writes go on, and the cluster tolerates no further failure: pi-3 does not answer, and 2 of 3 nodes run."],
  "no-quorum": ["error", "Nothing is written: pi-2 and pi-3 do not answer, and without one of them there is no majority."],
  hot: ["warning", "All 3 nodes serve, but pi-2 is throttled at 81 °C: it waits to cool down."],
}

const fullAnswer = "No. Nothing new can be written now, and each node that is off makes it worse. Free some space first."

const unplug = {
  full: [fullAnswer, fullAnswer],
  well: [
    "Yes. pi-2 leads next; after that the cluster tolerates no further failure.",
    "Yes. pi-1 goes on leading; after that the cluster tolerates no further failure.",
  ],
  hot: [
    "Yes. pi-3 leads next; after that the cluster tolerates no further failure.",
    "Yes. pi-1 goes on leading; after that the cluster tolerates no further failure.",
  ],
  "one-dead": ["No. pi-3 is off already: without pi-1 nothing is written.", "No. pi-3 is off already: without pi-2 nothing is written."],
  "no-quorum": ["No. Nothing is written already, and pi-1 is the last that answers reads.", "It is off already."],
  alone: ["No. It is the only node.", ""],
}

export function stateAt(scenario, at) {
  const isAlone = scenario === "alone"
  const isLed = scenario !== "no-quorum"
  return {
    Time: new Date(at * 1000).toISOString(),
    Health: { Level: health[scenario][0], Sentence: health[scenario][1] },
    Cluster: isAlone
      ? null
      : {
          Name: "home",
          LeaderTag: isLed ? "A" : null,
          Term: isLed ? 14 : 19,
          Role: isLed ? "Leader" : "Candidate",
          Trouble: isLed ? null : "pi-2 and pi-3 do not answer, and without one of them there is no majority.",
          ReadsAreLocal: !isLed,
        },
    Alerts: alertsOf(scenario),
    Nodes: (isAlone ? nodes.slice(0, 1) : nodes).map((node, n) => {
      const dead = diedAt(scenario, node.Tag)
      const sample = sampleAt(scenario, n, dead ?? at)
      const spare = Math.round(sample.DiskFreeBytes - sample.DiskReserveBytes)
      return {
        Tag: node.Tag,
        Name: node.Name,
        Url: `https://${node.Name}.local`,
        Role: isAlone ? "alone" : n === 0 && isLed ? "leader" : "voter",
        IsSelf: n === 0,
        State: dead === null ? "up" : "down",
        SeenSeconds: dead === null ? round(0.2 + 0.3 * n, 1) : round(at - dead, 1),
        LagEntries: dead === null ? (n === 0 ? 0 : Math.floor((at * 7 * n) % 3)) : isLed ? Math.round((at - dead) * 46) : null,
        SyncP99Milliseconds: dead === null ? sample.SyncP99Milliseconds : null,
        SpareBytes: dead === null ? (scenario === "full" ? -13 * 2 ** 30 : spare) : null,
        LimitsCapacity: node.Tag === "B" && isLed && !isAlone,
        Unplug: {
          MayI: ["well", "hot"].includes(scenario) || dead !== null,
          Sentence: dead !== null ? "It is off already." : unplug[scenario][n === 0 ? 0 : 1],
        },
        Sample: sample,
      }
    }),
    Indexes: [
      {
        Database: "shop",
        Name: "Orders/ByCompany",
        State: "Normal",
        IsStale: true,
        DocumentsLeft: sampleAt(scenario, 0, at).IndexDocumentsLeft,
        SecondsLeft: Math.round(sampleAt(scenario, 0, at).IndexDocumentsLeft / 120),
        Errors: 0,
      },
      { Database: "shop", Name: "Auto/Users/ByName", State: "Normal", IsStale: false, DocumentsLeft: 0, SecondsLeft: 0, Errors: 0 },
      { Database: "birds", Name: "Rooks/ByNest", State: "Normal", IsStale: false, DocumentsLeft: 0, SecondsLeft: 0, Errors: 3 },
    ],
  }
}

/** What a node serves Redis clients: the third one serves none. */
export function redisState(tag, at) {
  const seconds = Math.max(0, at - began) + 3600
  if (tag === "C") return { Node: tag, IsOn: false }
  return {
    Node: tag,
    IsOn: true,
    Address: "[::]:6379",
    UsesTls: true,
    Database: "redis",
    UptimeSeconds: round(seconds, 3),
    Clients: 7,
    MaxClients: 480,
    Subscribers: 2,
    Blocked: 1,
    Commands: {
      string: Math.floor(seconds * 31),
      hash: Math.floor(seconds * 4.2),
      list: Math.floor(seconds * 1.5),
      pubsub: Math.floor(seconds * 2),
      connection: 412,
    },
    Errors: 12,
    Refused: 0,
    UnknownOutcomes: 3,
    SlowClients: 1,
  }
}

const figures = Object.keys(sampleAt("well", 0, began)).filter(
  (name) =>
    ![
      "UnixMilliseconds",
      "Version",
      "Ready",
      "Reason",
      "Model",
      "IsSimulated",
      "Throttled",
      "ThrottledSinceBoot",
      "IsClockSynchronised",
    ].includes(name),
)

export function history(scenario, query) {
  const n = Math.max(
    0,
    nodes.findIndex((node) => node.Tag === (query.get("node") ?? "A")),
  )
  const now = Date.now() / 1000
  const to = Math.min(Number(query.get("to") || now), diedAt(scenario, nodes[n].Tag) ?? now)
  const from = Math.max(Number(query.get("from") || 0), now - 86_400)
  const points = Number(query.get("points") || 600)
  const span = Math.max(10, Math.ceil((to - from) / points / 10) * 10)
  const Rows = []
  for (let at = Math.ceil(from / span) * span; at <= to; at += span) {
    const sample = sampleAt(scenario, n, at)
    Rows.push([
      at,
      ...figures.map((name) => sample[name]),
      sample.Throttled && Number(sample.Throttled.includes("under_voltage")),
      sample.Throttled && Number(sample.Throttled.includes("throttled")),
    ])
  }
  return {
    Node: nodes[n].Tag,
    SpanSeconds: span,
    LastSeen: new Date(to * 1000).toISOString(),
    IsObserved: n > 0,
    Columns: ["UnixSecond", ...figures, "UnderVoltageRatio", "ThrottledRatio"],
    Rows,
  }
}

export function slow(scenario, query) {
  const n = Math.max(
    0,
    nodes.findIndex((node) => node.Tag === (query.get("node") ?? "A")),
  )
  const end = diedAt(scenario, nodes[n].Tag) ?? Date.now() / 1000
  const rows = Array.from({ length: 26 }, (_, i) => {
    const at = end - (25 - i) ** 2 * 60 - 3
    const sync = sampleAt(scenario, n, at).SyncP99Milliseconds
    return [
      i % 6 === 4 ? "compaction" : "journal_sync",
      Math.round(at * 1e6),
      Math.round((60 + sync * 3.5 + ((i * 37) % 50)) * 1000),
      i % 6 === 4 ? 524_288 : 0,
    ]
  })
  return { Columns: ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"], Rows: rows }
}

export function debugIo(scenario, query) {
  const n = Math.max(
    0,
    nodes.findIndex((node) => node.Tag === (query.get("node") ?? "A")),
  )
  const span = Number(query.get("span") || 60)
  const now = Date.now() / 1000
  const until = Math.min(Number(query.get("until") || Number.POSITIVE_INFINITY) / 1e6, now)
  const since = Number(query.get("since") || 0) / 1e6
  const from = Math.max(since, now - 300)
  const Columns = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
  const ended = (row) => row[1] + row[2] > since * 1e6 && row[1] + row[2] <= until * 1e6
  const events = {
    Events: {
      FromUnixMicroseconds: Math.round(from * 1e6),
      UntilUnixMicroseconds: Math.round(until * 1e6),
      Columns,
      Rows: eventsBetween(scenario, n, from - 3, until).filter(ended),
    },
    SlowEvents: { Columns, Rows: slow(scenario, query).Rows.filter(ended) },
  }
  return {
    Node: nodes[n].Tag,
    NodeName: nodes[n].Name,
    Devices: { Journal: "mmcblk0p2", Data: n === 2 ? "sda1" : "mmcblk0p2" },
    ...(query.get("only") === "rollups" ? {} : events),
    RollUps: {
      SpanSeconds: span,
      Columns: ["UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds"],
      Rows: rollUpsBetween(scenario, n, Math.max(since, until - Math.min(86_400, span * 4096)), until, span),
    },
  }
}
