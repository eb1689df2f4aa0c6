// What operators of a node get: metrics and rules that promtool accepts, alerts at a webhook, logs, settings, and a
// debug package without secrets.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { needing } from "./installed.mjs"
import { asRoot } from "./mounts.mjs"
import { afterwards, freePort, NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

const phrase = "correct horse battery staple seven"
const claimCode = "PELICAN2ORBIT7LAMP9"
const webhookToken = "tk_9f3kQ2mVBoFD37zQVN29RhuMzNIz2"
const hookPath = "hooks/T0001/B0002/planted-path-of-a-hook"

/** Starts a webhook. `received` has the path, the Authorization header and the JSON of each request. */
async function webhookServer(t) {
  const received = []
  const server = createServer((request, response) => {
    const parts = []
    request.on("data", part => parts.push(part))
    request.on("end", () => {
      received.push({ path: request.url, authorization: request.headers.authorization, body: JSON.parse(Buffer.concat(parts).toString()) })
      response.end()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  afterwards(t, () => new Promise(done => {
    server.close(done)
    server.closeAllConnections()
  }))
  return { received, url: `http://127.0.0.1:${server.address().port}` }
}

/** Starts a node with TLS and with every kind of secret that a node can have. */
async function serveWithSecrets(t) {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const hook = await webhookServer(t)
  const result = await run("cluster", "init", "--data", at("data"), "--name", "home", "--node-name", "pi-1")
  assert.equal(result.code, 0, result.stderr)
  for (const [name, content] of Object.entries({ phrase, code: claimCode, token: webhookToken })) {
    writeFileSync(at(name), `${content}\n`, { mode: 0o600 })
  }

  writeFileSync(at("config.json"), JSON.stringify({
    form: { expect: 2, phraseFile: at("phrase") },
    claimCodeFile: at("code"),
    webhook: { url: `${hook.url}/${hookPath}`, tokenFile: at("token") },
  }))
  const port = await portForMember()
  const node = NodeProcess.start({ data: at("data"), port, credentials: { rejectUnauthorized: false }, options: ["--config", at("config.json"), "--memory", "128M"], environment: { PATH: process.env.PATH } })
  afterwards(t, () => node.kill())
  await node.answers("/readyz", 200)
  await until(() => readdirSync(at("data")).includes("claim-code"))
  return { at, node, hook }
}

test("Messages to a webhook on this machine, with its token, go to no proxy of the environment", async t => {
  const directory = temporaryDirectory(t)
  const hook = await webhookServer(t)
  const proxy = await webhookServer(t)
  writeFileSync(join(directory, "token"), `${webhookToken}\n`, { mode: 0o600 })
  for (const host of ["127.0.0.1", "localhost"]) {
    const url = hook.url.replace("127.0.0.1", host)
    writeFileSync(join(directory, "config.json"), JSON.stringify({ webhook: { url: `${url}/${hookPath}`, tokenFile: join(directory, "token") } }))
    const environment = { http_proxy: proxy.url, https_proxy: proxy.url, all_proxy: proxy.url, no_proxy: "" }
    const node = await NodeProcess.serveDuring(t, { data: join(directory, host), options: ["--config", join(directory, "config.json")], environment })
    await node.expect(200, "POST", "/admin/alerts/test")
    assert.deepEqual(proxy.received, [], host)
    assert.equal(hook.received.shift().authorization, `Bearer ${webhookToken}`)
  }
})

test("promtool accepts the metrics of a node that has served requests", needing("promtool"), async t => {
  const node = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t) })
  await node.createDatabase("shop")
  await node.expect(201, "PUT", "/databases/shop/docs?id=a/1", JSON.stringify({ "@metadata": { "@collection": "A" }, Name: "x" }))
  await node.request("GET", "/databases/shop/docs?id=a/2")
  await node.request("GET", "/metrics")
  const { text } = await node.request("GET", "/metrics")
  assert.match(text, /rookery_alerts\{severity="critical"\} 0\n/)
  const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" })
  assert.equal(checked.status, 0, `${checked.stdout}${checked.stderr}`)
})

test("promtool accepts the rules, and they fire as rules.test.yml says", needing("promtool"), async t => {
  const rules = await run("alerts", "--prometheus")
  assert.equal(rules.code, 0, rules.stderr)
  const directory = temporaryDirectory(t)
  const file = join(directory, "rookery.rules.yml")
  writeFileSync(file, rules.stdout)
  const checked = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" })
  assert.equal(checked.status, 0, `${checked.stdout}${checked.stderr}`)
  assert.match(checked.stdout, /SUCCESS: \d\d rules found/)
  copyFileSync(new URL("rules.test.yml", import.meta.url), join(directory, "rules.test.yml"))
  const tested = spawnSync("promtool", ["test", "rules", join(directory, "rules.test.yml")], { encoding: "utf8" })
  assert.equal(tested.status, 0, `${tested.stdout}${tested.stderr}`)
})

test("An alert of the board is logged, shown in the metrics and sent to the webhook, as is its end", { timeout: 180_000 }, async t => {
  const directory = temporaryDirectory(t)
  const hook = await webhookServer(t)
  const slot = join(directory, "board/var/lib/prometheus/node-exporter/rookery_slot.prom")
  mkdirSync(join(slot, ".."), { recursive: true })
  writeFileSync(slot, "# TYPE rookery_slot_fell_back gauge\nrookery_slot_on_trial 0\nrookery_slot_fell_back 1\n")
  writeFileSync(join(directory, "config.json"), JSON.stringify({ webhook: { url: `${hook.url}/ntfy/our-rookery`, form: "ntfy" } }))
  const node = await NodeProcess.serveDuring(t, {
    data: join(directory, "data"), options: ["--config", join(directory, "config.json")], environment: { ROOKERY_SIMULATED_BOARD: join(directory, "board") },
  })
  await until(() => hook.received.length > 0)
  assert.deepEqual(hook.received.map(({ path, body }) => [path, body.topic, body.title, body.priority]), [["/ntfy/", "our-rookery", "A: slot_fell_back", 4]])
  const { text } = await node.request("GET", "/metrics")
  assert.match(text, /\nrookery_slot_fell_back 1\n/)
  assert.match(text, /\nrookery_alerts\{severity="warning"\} 1\n/)
  const { Lines: lines } = await node.expect(200, "GET", "/admin/logs")
  assert.equal(lines.find(line => line.EventId === 1601)?.Text.startsWith("Alert slot_fell_back: An update of this machine failed to start"), true, JSON.stringify(lines))
  writeFileSync(slot, "rookery_slot_on_trial 0\nrookery_slot_fell_back 0\n")
  await until(() => hook.received.length > 1)
  assert.equal(hook.received[1].body.title, "A: slot_fell_back is over")
})

test("No secret gets into the debug package, the logs or the settings of a node that has them all", { timeout: 180_000 }, async t => {
  const { at, node, hook } = await serveWithSecrets(t)
  const localToken = readFileSync(at("data/local-access"), "utf8").split("\n")[1]
  const claimed = await run("claim", "--data", at("data"))
  assert.equal(claimed.code, 0, claimed.stderr)
  const owner = claimed.stdout.trim()
  const metricsToken = (await run("token", "create", "robot", "--scope", "metrics", "--data", at("data"))).stdout.trim()
  const joinToken = (await run("cluster", "token", "create", "--data", at("data"))).stdout.match(/rookery-join-1\.\S+/)?.[0]
  assert.match(joinToken, /^rookery-join-1\./)
  const tested = await run("alerts", "test", "--data", at("data"))
  assert.equal(tested.code, 0, tested.stderr)
  assert.deepEqual(hook.received.map(({ path, authorization, body }) => [path, authorization, body.State]), [[`/${hookPath}`, `Bearer ${webhookToken}`, "test"]])

  const fetched = await run("debug-package", "--data", at("data"), "--to", at("package.tar.gz"))
  assert.equal(fetched.code, 0, fetched.stderr)
  assert.equal(fetched.stdout.trim(), at("package.tar.gz"))
  assert.equal(statSync(at("package.tar.gz")).mode & 0o777, 0o600)
  mkdirSync(at("unpacked"))
  assert.equal(spawnSync("tar", ["-xzf", at("package.tar.gz"), "--strip-components=1", "-C", at("unpacked")]).status, 0)
  const files = readdirSync(at("unpacked"), { recursive: true, withFileTypes: true }).filter(file => file.isFile()).map(file => join(file.parentPath, file.name))
  const names = files.map(file => file.slice(at("unpacked").length + 1)).sort()
  for (const name of ["README.txt", "doctor.json", "files.txt", "io-timeline.json", "log.txt", "metrics.txt", "raft.json", "settings.json", "storage.json", "system/meminfo.txt", "system/diskstats.txt", "version.json"]) {
    assert.ok(names.includes(name), `${name} is not among ${names}`)
  }

  assert.deepEqual(names.filter(name => name.endsWith(".failed.txt")), [])
  const keys = readdirSync(at("data/cluster")).filter(name => /key/.test(name)).map(name => readFileSync(at(`data/cluster/${name}`), "latin1"))
  assert.ok(keys.length > 0)
  const logs = (await run("debug-package", "show", at("package.tar.gz"), "log.txt")).stdout
  assert.match(logs, /Serving /)
  const everything = files.map(file => readFileSync(file, "latin1")).join("\n") + logs
  const secrets = { phrase, claimCode, webhookToken, hookPath, localToken, owner, metricsToken, joinToken }
  for (const [name, secret] of Object.entries(secrets)) {
    assert.equal(everything.toLowerCase().includes(secret.toLowerCase()), false, `${name} is in the package`)
  }

  for (const key of keys) {
    for (const line of key.split("\n").filter(line => line.length > 30 && !line.startsWith("-----"))) {
      assert.equal(everything.includes(line), false, "a key is in the package")
    }
  }

  node.headers = { Authorization: `Bearer ${owner}` }
  const settings = await node.request("GET", "/admin/node/settings")
  assert.equal(settings.status, 200)
  assert.match(settings.text, /"Name":"webhook","Value":"json to http:\/\/127\.0\.0\.1:\d+ with the token in /)
  assert.equal([settings.text, (await node.request("GET", "/admin/logs")).text].some(text => Object.values(secrets).some(secret => text.includes(secret))), false)

  const shown = await run("debug-package", "show", at("package.tar.gz"))
  assert.match(shown.stdout, /^Debug package of a Rookery node, made /)
  assert.match(shown.stdout, /\n +\d+ {2}system\/meminfo\.txt\n/)
})

test("journald gets each line with its severity and number as fields, and stderr gets nothing", asRoot, async t => {
  const directory = temporaryDirectory(t)
  const lines = join(directory, "lines")
  const script = `mount -t tmpfs none /run && { python3 "$1" "$2" & } && while [ ! -S /run/systemd/journal/socket ]; do sleep 0.1; done
    export JOURNAL_STREAM=8:$(readlink /proc/self/fd/2 | tr -dc 0-9); shift 2; exec "$@"`
  const node = await NodeProcess.serve({ data: join(directory, "data"), within: ["unshare", "--mount", "sh", "-c", script, "sh", fileURLToPath(new URL("journal-stub.py", import.meta.url)), lines] })
  afterwards(t, () => node.kill())
  await until(() => readFileSync(lines, "utf8").endsWith("\n"))
  const [first] = readFileSync(lines, "utf8").trim().split("\n").map(line => JSON.parse(line))
  assert.match(first.MESSAGE, /^info: Serving /)
  assert.deepEqual([first.PRIORITY, first.ROOKERY_EVENT, first.ROOKERY_EVENT_NAME, first.SYSLOG_IDENTIFIER], ["6", "1001", "serving", "rookery"])
  assert.equal(node.log, "")
  await node.terminate()
})

test("A file that is not a debug package is refused, and a missing node or file is named", async t => {
  const file = join(temporaryDirectory(t), "x.tar.gz")
  writeFileSync(file, "no archive")
  const broken = await run("debug-package", "show", file)
  assert.deepEqual([broken.code, broken.stdout], [1, ""])
  assert.match(broken.stderr, /x\.tar\.gz is not a debug package, or is incomplete/)
  const missing = await run("debug-package", "show", `${file}.no`)
  assert.deepEqual([missing.code, missing.stderr], [78, `There is no file ${file}.no.\n`])
  const silent = await run("debug-package", "--url", `http://127.0.0.1:${await freePort()}`, "--to", file)
  assert.equal(silent.code, 1)
  assert.match(silent.stderr, /No node answers at/)
  assert.equal(readFileSync(file, "utf8"), "no archive")
})

test("A node does not start with a webhook's token that other users can read", async t => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, "token"), webhookToken)
  chmodSync(join(directory, "token"), 0o644)
  writeFileSync(join(directory, "config.json"), JSON.stringify({ webhook: { url: "https://127.0.0.1:1/", tokenFile: join(directory, "token") } }))
  const refused = await run("serve", "--data", join(directory, "data"), "--listen", `http://127.0.0.1:${await freePort()}`, "--config", join(directory, "config.json"))
  assert.equal(refused.code, 78)
  assert.match(refused.stderr, /holds the webhook's token, and other users can read it\. Run `chmod 600 /)
  assert.doesNotMatch(refused.stderr, /tk_/)
})
