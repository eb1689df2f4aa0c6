// Simulates a node of a cluster of three for the dashboard, with changing figures but without a cluster, to look at pages.
//   node server/dashboard/tests/mock-node.mjs [--port 8090] [--scenario well|one-dead|no-quorum|hot|full|alone] [--sign-in] [--kiosk]
// With --sign-in it requires the token rookery_test; with --kiosk the browser may see figures only.
// POST /mock/scenario?name=one-dead changes the scenario, POST /mock/silence?seconds=20 interrupts the stream.
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { answerAdmin } from "./mock/admin.mjs"
import { alertsPage, debugIo, history, redisState, slow, stateAt } from "./mock/dashboard.mjs"
import { answerDatabase } from "./mock/documents.mjs"
import { answerManual } from "./mock/manual.mjs"

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : process.argv[at + 1]
}
const port = Number(option("port", 8090))
const scenarios = ["well", "one-dead", "no-quorum", "hot", "full", "alone"]
let scenario = option("scenario", "well")
if (!scenarios.includes(scenario)) throw new Error(`--scenario must be one of ${scenarios.join(", ")}, not '${scenario}'.`)
const needsSignIn = process.argv.includes("--sign-in")
const isKiosk = process.argv.includes("--kiosk")
const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist")
let silentUntil = 0

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
}
const safety = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, `http://127.0.0.1:${port}`)
  const send = (status, body, headers = {}) => {
    const content = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    response.writeHead(status, {
      ...safety,
      ...(typeof body === "object" && !Buffer.isBuffer(body) ? { "Content-Type": "application/json; charset=utf-8" } : {}),
      ...headers,
    })
    response.end(content)
    return true
  }
  const refuse = (status, Message) =>
    send(status, { Url: url.pathname, Type: "Raven.Client.Exceptions.RavenException", Message, Error: Message })
  // The body is kept, because more than one route may read it.
  let body
  const read = async () => {
    if (body !== undefined) return body
    const parts = []
    for await (const part of request) parts.push(part)
    body = Buffer.concat(parts).toString()
    return body
  }
  const isSignedIn = !needsSignIn || (request.headers.cookie ?? "").includes("rookery_session=")
  try {
    if (sendFile(url.pathname, request, send)) return
    if (url.pathname.startsWith("/mock/")) return order(url, send)
    if (/^\/help(\/|$)/.test(url.pathname)) return answerManual(request, url, send, () => sendFile("/", request, send))
    if (url.pathname === "/session") return await session(request, read, send, refuse, isSignedIn)
    if (!isSignedIn) return refuse(401, "No credential came. Sign in with a token.")
    if (request.headers.cookie && !["GET", "HEAD"].includes(request.method) && request.headers["rookery-request"] !== "dashboard")
      return refuse(403, "The header Rookery-Request: dashboard is missing.")
    if (url.pathname === "/dashboard/live") return stream(request, response)
    const answer = {
      "/dashboard/history": () => history(scenario, url.searchParams),
      "/dashboard/slow": () => slow(scenario, url.searchParams),
      "/dashboard/alerts": alertsPage,
      "/dashboard/redis": () => redisState(url.searchParams.get("node") ?? "A", Date.now() / 1000),
      "/debug/io": () => debugIo(scenario, url.searchParams),
    }[url.pathname]
    if (answer) return send(200, answer())
    if (url.pathname === "/readyz")
      return send(200, {
        Ready: true,
        Reason: null,
        Version: "0.1.0",
        NodeTag: "A",
        Cluster: { Clock: { Time: new Date().toISOString(), OwnAheadSeconds: 0.003, Doubt: null, IsOwnSynchronised: true } },
      })
    const asked = { request, url, read, send, refuse, scenario }
    if ((await answerAdmin(asked)) || (await answerDatabase(asked))) return
    refuse(501, `The mock node has no ${request.method} ${url.pathname}.`)
  } catch (failure) {
    console.error(failure)
    if (!response.headersSent) refuse(500, String(failure))
  }
})

function sendFile(path, request, send) {
  if (path === "/studio" || path.startsWith("/studio/")) return send(302, "", { Location: "/" })
  if (path !== "/" && !path.startsWith("/assets/")) return false
  const file = join(dist, path === "/" ? "index.html" : path)
  if (!file.startsWith(dist) || !existsSync(file)) return send(404, "Not built: npm --prefix server/dashboard run build")
  const isPacked = existsSync(`${file}.br`) && /\bbr\b/.test(request.headers["accept-encoding"] ?? "")
  return send(200, readFileSync(isPacked ? `${file}.br` : file), {
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
    "Cache-Control": path === "/" ? "no-cache" : "public, max-age=31536000, immutable",
    ...(isPacked ? { "Content-Encoding": "br" } : {}),
  })
}

function order(url, send) {
  if (url.pathname === "/mock/scenario" && scenarios.includes(url.searchParams.get("name"))) scenario = url.searchParams.get("name")
  if (url.pathname === "/mock/silence") silentUntil = Date.now() + 1000 * Number(url.searchParams.get("seconds") ?? 20)
  return send(204)
}

async function session(request, read, send, refuse, isSignedIn) {
  if (request.method === "DELETE") return send(204, "", { "Set-Cookie": "rookery_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict" })
  if (request.method === "POST") {
    const { Token } = JSON.parse(await read())
    return Token === "rookery_test"
      ? send(204, "", { "Set-Cookie": "rookery_session=mock; HttpOnly; SameSite=Strict; Path=/" })
      : refuse(401, "This token is not known to the cluster, or was revoked.")
  }
  return send(200, {
    SignedIn: isSignedIn,
    By: isSignedIn ? (needsSignIn || isKiosk ? "session" : "open") : null,
    Name: isSignedIn && needsSignIn ? "admin" : null,
    Scopes: isSignedIn ? (isKiosk ? ["metrics"] : ["read", "write", "admin", "metrics"]) : [],
    Databases: null,
    IsSecure: needsSignIn,
    IsClaimed: true,
    NodeTag: "A",
    NodeName: "pi-1",
    ClusterName: scenario === "alone" ? "" : "home",
    Version: "0.1.0",
    Reason: null,
  })
}

function stream(request, response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store", ...safety })
  const tell = () => {
    if (Date.now() >= silentUntil) response.write(`event: state\ndata: ${JSON.stringify(stateAt(scenario, Date.now() / 1000))}\n\n`)
  }
  tell()
  const timer = setInterval(tell, 1000)
  request.on("close", () => clearInterval(timer))
}

// By default an idle connection is closed after 5 s. A browser on a slow machine then sends a request on a connection
// that is just being closed, and logs an error.
server.keepAliveTimeout = 120_000
server.listen(port, "127.0.0.1", () => console.log(`A mock node plays '${scenario}' on http://127.0.0.1:${server.address().port}`))
