// Cluster, access, logs and settings of the mock. Changes that pages request are kept in memory.
import { diedAt, nodes } from "./figures.mjs"

const members = nodes.map((node, n) => ({ ...node, Role: n === 0 ? "leader" : "voter" }))
const day = 86_400_000
const tokens = [
  { Name: "admin", Scopes: ["admin"], Databases: null, Created: new Date(Date.now() - 40 * day).toISOString(), Expires: null },
  { Name: "prometheus", Scopes: ["metrics"], Databases: null, Created: new Date(Date.now() - 39 * day).toISOString(), Expires: null },
  {
    Name: "shop-app",
    Scopes: ["read", "write"],
    Databases: ["shop"],
    Created: new Date(Date.now() - 12 * day).toISOString(),
    Expires: new Date(Date.now() + 78 * day).toISOString(),
  },
]
const certificates = [
  {
    Name: "backend",
    Thumbprint: "4f0c".repeat(16),
    Admin: false,
    Databases: { shop: "rw" },
    Created: new Date(Date.now() - 30 * day).toISOString(),
    Expires: new Date(Date.now() + 367 * day).toISOString(),
  },
]
let rotation = null
let webhook = { Place: null, Form: null, IsOfFile: false, QuietFrom: null, QuietUntil: null }
let level = 3
const secret = () =>
  Array.from({ length: 43 }, () => "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[Math.floor(Math.random() * 56)]).join("")

const lines = [
  "A member was heard again: pi-3.",
  "Flushed 3 tables in 412 ms: 4.1 MiB in 2 runs.",
  "A sync of the journal took 1,204 ms on mmcblk0p2; the 32 before it took 6 to 19 ms.",
  "The token 'shop-app' was made.",
  "Compacted 5 runs of group 'documents' into 1: 58 MiB.",
  "pi-3 does not answer: the connection was refused.",
]
const log = Array.from({ length: 640 }, (_, n) => ({
  Sequence: n + 1,
  Time: new Date(Date.now() - (640 - n) * 21_000).toISOString(),
  Level: n % 13 === 2 ? "warning" : n % 97 === 5 ? "error" : "information",
  EventId: 100 + (n % lines.length),
  Text: lines[n % 13 === 2 ? 2 : n % 97 === 5 ? 5 : [0, 1, 3, 4][n % 4]],
}))

/** Answers a request if it is for one of these routes. Returns true if it answered. */
export async function answerAdmin({ request, url, read, send, refuse, scenario }) {
  const { pathname: path, searchParams: query } = url
  const body = request.method === "POST" || request.method === "PUT" ? await read() : ""
  const json = body && !path.includes("import") ? safely(body) : {}
  const name = query.get("name")
  const named = members.find((one) => one.Name === name || one.Tag === name)
  const isLed = scenario !== "no-quorum"
  if (scenario === "alone" && path.startsWith("/admin/cluster/") && !/clock|finalize/.test(path)) {
    return refuse(
      409,
      "This node is in no cluster. Stop it, make it the first member of a cluster with `rookery cluster init --data DIR`, and start it again.",
    )
  }
  if (!isLed && request.method !== "GET" && path.startsWith("/admin/cluster/"))
    return refuse(503, "Nobody leads now, so nothing was changed: pi-2 and pi-3 do not answer.")
  switch (`${request.method} ${path}`) {
    case "GET /admin/cluster/nodes": {
      const Voters = members.filter((one) => one.Role !== "learner").length
      send(200, {
        Leader: isLed ? "A" : null,
        Term: 14,
        LastIndex: 912_401,
        LastTerm: 14,
        Voters,
        Tolerance: Math.floor((Voters - 1) / 2),
        Note: isLed
          ? `${Voters} members vote: with ${Math.floor((Voters - 1) / 2)} of them off, writes go on.`
          : "pi-2 and pi-3 do not answer, and without one of them there is no majority.",
        ...(isLed
          ? {}
          : { Unreached: ["pi-2 at 192.168.1.12:7070: the connection was refused.", "pi-3 at 192.168.1.13:7070: no route to that host."] }),
        Members: members.map((one) => ({
          Tag: one.Tag,
          Name: one.Name,
          NodeId: `${one.Tag}b1c2d3e4f5`,
          Role: one.Role === "leader" && !isLed ? "voter" : one.Role,
          Url: `https://${one.Name}.local`,
          ...(isLed
            ? { IsReachable: diedAt(scenario, one.Tag) === null, LagEntries: diedAt(scenario, one.Tag) === null ? 0 : 63_480 }
            : {}),
          SyncP99Milliseconds: one.sync,
          HeardSeconds: 0.2,
          SpareBytes: 19e9,
          IsSelf: one.Tag === "A",
          RecordVersion: 3,
        })),
      })
      return true
    }
    case "DELETE /admin/cluster/nodes":
      if (!named) return refuse(404, `There is no member '${name}'.`)
      members.splice(members.indexOf(named), 1)
      return send(200, { Message: `${name} is not a member any more.` })
    case "POST /admin/cluster/nodes/promote":
    case "POST /admin/cluster/nodes/demote":
      if (!named) return refuse(404, `There is no member '${name}'.`)
      named.Role = path.endsWith("promote") ? "voter" : "learner"
      return send(200, { Message: `${named.Name} is a ${named.Role} now.` })
    case "POST /admin/cluster/nodes/transfer":
      for (const one of members) if (one.Role === "leader") one.Role = "voter"
      ;(named ?? members[1]).Role = "leader"
      return send(200, { Message: `${(named ?? members[1]).Name} leads now.` })
    case "POST /admin/cluster/clock/confirm":
      return send(200, { Message: "The voters' clocks are taken for right: it is 2026-11-25 16:02:11 UTC." })
    case "GET /admin/cluster/upgrade":
      return send(200, { Level: level, Members: members.map((one) => ({ Tag: one.Tag, Name: one.Name, NewestLevel: 4 })) })
    case "POST /admin/cluster/finalize-upgrade":
      level = 4
      return send(200, {
        Message: "Everything is written at level 4 from now on. A program that knows only level 3 starts on these data no more.",
      })
    case "GET /admin/alerts/webhook":
      return send(200, webhook)
    case "PUT /admin/alerts/webhook":
      webhook = {
        ...webhook,
        ...(json
          ? { Place: json.Url ? new URL(json.Url).origin : webhook.Place, Form: json.Form ?? webhook.Form }
          : { Place: null, Form: null }),
        QuietFrom: json?.QuietFrom ?? null,
        QuietUntil: json?.QuietUntil ?? null,
      }
      return send(204)
    case "POST /admin/alerts/test":
      return send(200, { Message: "https://ntfy.sh accepted a test message." })
    case "POST /admin/cluster/tokens":
      return send(201, {
        Token: `rookery-join-1.${secret()}${secret()}${secret()}${secret()}`,
        Expires: new Date(Date.now() + (json.LifetimeSeconds ?? 3600) * 1000).toISOString(),
        Cluster: "home",
      })
    case "POST /admin/cluster/authority/rotate":
      rotation = { Rotation: "TrustNew", WaitsFor: ["pi-3"] }
      return send(200, authority())
    case "POST /admin/cluster/authority/retire":
      if (!rotation) return refuse(409, "The authority is not being replaced.")
      rotation = null
      return send(200, authority())
    case "GET /admin/cluster/authority":
      return send(200, authority())
    case "GET /admin/access/tokens":
      return send(200, { Tokens: tokens })
    case "POST /admin/access/tokens": {
      if (tokens.some((one) => one.Name === json.Name))
        return refuse(409, `There is a token '${json.Name}' already. Revoke it first, or choose another name.`)
      if (!/^[a-z0-9-]{1,63}$/.test(json.Name ?? "")) return refuse(400, "'Name' must have 1 to 63 lower-case letters, digits and hyphens.")
      const made = {
        Name: json.Name,
        Scopes: json.Scopes,
        Databases: json.Databases ?? null,
        Created: new Date().toISOString(),
        Expires: json.LifetimeSeconds ? new Date(Date.now() + json.LifetimeSeconds * 1000).toISOString() : null,
      }
      tokens.push(made)
      return send(201, { ...made, Token: `rookery_${secret()}` })
    }
    case "DELETE /admin/access/tokens":
      tokens.splice(
        tokens.findIndex((one) => one.Name === name),
        1,
      )
      return send(204)
    case "GET /admin/access/certificates":
      return send(200, { Certificates: certificates })
    case "POST /admin/access/certificates":
      certificates.push({
        Name: json.Name,
        Thumbprint: "77aa".repeat(16),
        Admin: json.Admin ?? false,
        Databases: json.Databases ?? null,
        Created: new Date().toISOString(),
        Expires: new Date(Date.now() + 397 * day).toISOString(),
      })
      return send(201, {
        ...certificates.at(-1),
        Certificate: "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
        Authorities: authority().Authorities[0].Certificate,
      })
    case "DELETE /admin/access/certificates":
      certificates.splice(
        certificates.findIndex((one) => one.Name === name),
        1,
      )
      return send(204)
    case "GET /admin/logs": {
      if (diedAt(scenario, query.get("node") ?? "A") !== null) return refuse(502, `${query.get("node")} does not answer.`)
      while (log.at(-1) && Date.now() - Date.parse(log.at(-1).Time) > 4000) {
        const n = log.at(-1).Sequence
        log.push({
          Sequence: n + 1,
          Time: new Date(Date.parse(log.at(-1).Time) + 4000).toISOString(),
          Level: "information",
          EventId: 101,
          Text: lines[[0, 1, 3, 4][n % 4]],
        })
      }
      const after = Number(query.get("after") ?? 0)
      return send(200, { Lines: log.filter((line) => line.Sequence > after).slice(-Number(query.get("limit") ?? 500)) })
    }
    case "GET /admin/node/settings":
      return send(200, {
        Settings: [
          ["data", "/var/lib/rookery/data", "file"],
          ["listen", "https://0.0.0.0:443", "file"],
          ["memory", "256M", "option"],
          ["journal", "/var/lib/rookery/data/journal", "default"],
          ["publicUrl", "https://pi-1.local", "file"],
          ["alertWebhook", "(secret)", "file"],
          ["machineMetrics", "http://127.0.0.1:9100/metrics", "default"],
        ].map(([Name, Value, Source]) => ({ Name, Value, Source, Help: "/help/reference/configuration.md" })),
      })
    case "GET /admin/node/debug-package":
      return send(200, "not a real package", {
        "Content-Type": "application/gzip",
        "Content-Disposition": `attachment; filename="rookery-${query.get("node") ?? "A"}.tar.gz"`,
      })
    case "POST /admin/node/find":
      return query.get("node") === "C" ? refuse(501, "pi-3 has no LED that this process may drive.") : send(204)
    default:
      return false
  }
}

function safely(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function authority() {
  const Certificate = `-----BEGIN CERTIFICATE-----\n${"MIIBszCCAVmgAwIBAgIUQJ7m".repeat(12).replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`
  const one = (n) => ({ Subject: `CN=home ${n}`, Sha256: "9d1f4c".repeat(11).slice(0, 64), Certificate })
  return { Authorities: rotation ? [one(1), one(2)] : [one(1)], ...(rotation ?? {}) }
}
