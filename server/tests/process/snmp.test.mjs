// Tests snmpd with snmpwalk and SNMPv3, set up as in docs/how-to/snmp.md, and the protocol between snmpd and `rookery
// snmp`.
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { needing } from "./installed.mjs"
import { afterwards, executable, freePort, NodeProcess, run, temporaryDirectory } from "./node-process.mjs"

const root = ".1.3.6.1.4.1.8072.9999.9999.7667"

/** Returns the lines that `rookery snmp` prints for the input lines of snmpd. */
async function converse(url, lines) {
  const child = spawn(executable, ["snmp", "--url", url], { stdio: ["pipe", "pipe", "inherit"] })
  const output = []
  child.stdout.on("data", part => output.push(part))
  child.stdin.end(`${lines.join("\n")}\n`)
  const [code] = await once(child, "close")
  assert.equal(code, 0)
  return Buffer.concat(output).toString().trimEnd().split("\n")
}

test("`rookery snmp` speaks pass_persist as in snmpd.conf(5)", async t => {
  const node = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t) })
  assert.deepEqual(
    await converse(node.url, [
      "PING", "get", `${root}.1.2.0`, "getnext", `${root}.1.1.0`, "get", `${root}.1.2`, "get", "nonsense", "getnext", `${root}.9`,
      "set", `${root}.1.2.0`, "integer 2", "getnext", ".1.3", "get", `${root}.2.6.0`, "get", `${root}.2.8.1.2.1`, "",
    ]),
    [
      "PONG", `${root}.1.2.0`, "integer", "1", `${root}.1.2.0`, "integer", "1", "NONE", "NONE", "NONE", "not-writable",
      `${root}.1.1.0`, "string", readFileSync(new URL("../../../Directory.Build.props", import.meta.url), "utf8").match(/<Version>(.*)<\/Version>/)?.[1],
      `${root}.2.6.0`, "integer", "0", `${root}.2.8.1.2.1`, "string", "A",
    ],
  )
})

test("A node that does not answer is shown with its error and as not ready", async () => {
  const lines = await converse(`http://127.0.0.1:${await freePort()}`, ["get", `${root}.1.2.0`, "get", `${root}.1.3.0`, "get", `${root}.5.1.0`])
  assert.deepEqual(lines.slice(0, 5), [`${root}.1.2.0`, "integer", "2", `${root}.1.3.0`, "string"])
  assert.match(lines[5], /^No node answers at http:/)
  assert.equal(lines[6], "NONE")
})

test("snmpwalk reads health, rates, temperature and disk with SNMPv3, and nothing with older versions", { ...needing("snmpd", "snmpwalk"), timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const board = join(directory, "board")
  mkdirSync(join(board, "sys/class/hwmon/hwmon0"), { recursive: true })
  writeFileSync(join(board, "sys/class/hwmon/hwmon0/name"), "cpu_thermal\n")
  writeFileSync(join(board, "sys/class/hwmon/hwmon0/temp1_input"), "61250\n")
  const node = await NodeProcess.serveDuring(t, { data: join(directory, "data"), environment: { ROOKERY_SIMULATED_BOARD: board } })
  await node.createDatabase("shop")
  const port = await freePort()
  writeFileSync(join(directory, "snmpd.conf"), `agentaddress udp:127.0.0.1:${port}
createUser monitor SHA-256 "authentication phrase" AES "privacy phrase here"
rouser monitor priv ${root}
pass_persist ${root} ${executable} snmp --url ${node.url}
`)
  mkdirSync(join(directory, "state"))
  const snmpd = spawn("snmpd", ["-f", "-Lo", "-C", "-c", join(directory, "snmpd.conf"), "-p", join(directory, "pid")], {
    env: { ...process.env, SNMP_PERSISTENT_DIR: join(directory, "state"), MIBS: "" }, stdio: ["ignore", "pipe", "pipe"],
  })
  const snmpdOutput = []
  snmpd.stdout.on("data", part => snmpdOutput.push(part))
  snmpd.stderr.on("data", part => snmpdOutput.push(part))
  const ended = once(snmpd, "close")
  afterwards(t, async () => {
    snmpd.kill("SIGTERM")
    await ended
  })

  const walk = (...options) => spawnSync("snmpwalk", ["-On", "-m", "", "-t", "2", "-r", "10", ...options, `udp:127.0.0.1:${port}`, root], {
    encoding: "utf8", env: { ...process.env, SNMP_PERSISTENT_DIR: join(directory, "state-of-client") },
  })
  const walked = walk("-v3", "-u", "monitor", "-l", "authPriv", "-a", "SHA-256", "-A", "authentication phrase", "-x", "AES", "-X", "privacy phrase here")
  assert.equal(walked.status, 0, `${walked.stdout}${walked.stderr}${Buffer.concat(snmpdOutput)}`)
  const objects = new Map(walked.stdout.trim().split("\n").map(line => line.split(" = ")))
  assert.equal(objects.get(`${root}.1.2.0`), "INTEGER: 1")
  assert.equal(objects.get(`${root}.2.1.0`), "INTEGER: 1")
  assert.equal(objects.get(`${root}.2.3.0`), "INTEGER: 1")
  assert.equal(objects.get(`${root}.2.8.1.2.1`), 'STRING: "A"')
  assert.equal(objects.get(`${root}.4.1.0`), "INTEGER: 613")
  assert.match(objects.get(`${root}.3.2.0`), /^Counter64: [1-9]/)
  assert.match(objects.get(`${root}.5.1.0`), /^Gauge32: [1-9]/)
  assert.equal(objects.has(`${root}.4.2.0`), false, "a value that the board does not report has no object")

  // The objects are in the order of the tree, or a walk would end early. Each is defined in the MIB.
  const mib = readFileSync(new URL("../../../docs/reference/ROOKERY-MIB.txt", import.meta.url), "utf8")
  for (const id of objects.keys()) {
    const [branch, number] = id.slice(root.length + 1).split(".")
    const parent = { 1: "rookeryNode", 2: "rookeryCluster", 3: "rookeryRates", 4: "rookeryBoard", 5: "rookeryDisk" }[branch]
    assert.match(mib, new RegExp(`::= \\{ ${parent} ${number} \\}`), `${id} is in the MIB`)
  }

  const open = walk("-v2c", "-c", "public")
  assert.notEqual(open.status, 0)
  assert.equal(open.stdout.includes("INTEGER"), false)
  const written = spawnSync("snmpset", ["-v3", "-u", "monitor", "-l", "authPriv", "-a", "SHA-256", "-A", "authentication phrase", "-x", "AES", "-X", "privacy phrase here", `udp:127.0.0.1:${port}`, `${root}.1.2.0`, "i", "2"], { encoding: "utf8" })
  assert.notEqual(written.status, 0)
})
