// The script that runs three nodes on one machine, as `make cluster` does.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join, resolve } from "node:path"
import { test } from "node:test"
import { afterwards, executable, portForMember, temporaryDirectory } from "../../../server/tests/process/node-process.mjs"

const script = resolve(import.meta.dirname, "../../local")

async function isFree(port) {
  const server = createServer().listen(port, "127.0.0.1")
  const free = await once(server, "listening").then(() => true, () => false)
  await new Promise(done => server.close(done))
  return free
}

/** Returns the first of three consecutive free ports whose ports for members, 1000 higher, are free too. */
async function threePorts() {
  for (;;) {
    const first = await portForMember()
    const others = await Promise.all([1, 2, 1001, 1002].map(more => isFree(first + more)))
    if (others.every(free => free)) {
      return first
    }
  }
}

const isRunning = pid => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test("The local cluster serves on three ports, and Ctrl+C stops all its nodes", { timeout: 180_000 }, async t => {
  const directory = join(temporaryDirectory(t), "cluster")
  const first = await threePorts()
  const child = spawn(script, [directory, `${first}`], { env: { ...process.env, ROOKERY_BIN: executable }, stdio: ["ignore", "pipe", "pipe"] })
  afterwards(t, () => child.kill("SIGTERM"))
  const output = []
  child.stderr.on("data", bytes => output.push(bytes))
  const ended = once(child, "close")
  await new Promise((done, fail) => {
    child.stdout.on("data", bytes => {
      output.push(bytes)
      if (/Ctrl\+C stops all three/.test(Buffer.concat(output))) done()
    })
    ended.then(([code]) => fail(new Error(`it ended with ${code}: ${Buffer.concat(output)}`)))
  })

  const url = at => `http://127.0.0.1:${first + at}`
  const sent = async (method, path, body) => (await fetch(path, { method, body })).status
  assert.equal(await sent("PUT", `${url(0)}/admin/databases?name=first`, '{"DatabaseName":"first"}'), 201)
  assert.equal(await sent("PUT", `${url(1)}/databases/first/docs?id=hello`, '{"to":"world"}'), 201)
  assert.equal((await (await fetch(`${url(2)}/databases/first/docs?id=hello`)).json()).Results[0].to, "world")
  const processes = ["a", "b", "c"].map(name => Number(readFileSync(join(directory, `${name}.pid`), "utf8")))
  assert.ok(processes.every(isRunning))
  child.kill("SIGINT")
  assert.deepEqual(await ended, [0, null])
  assert.ok(!processes.some(isRunning))
})

test("A local cluster whose token cannot be made ends with the reason", { timeout: 60_000 }, async t => {
  const directory = temporaryDirectory(t)
  const program = (name, text) => {
    writeFileSync(join(directory, name), `#!/usr/bin/env bash\n${text}\n`)
    chmodSync(join(directory, name), 0o755)
    return join(directory, name)
  }
  program("curl", "exit 0") // Every node seems ready.
  const rookery = program(
    "rookery",
    `case "$1 $2" in
      "cluster init") mkdir -p "$4/cluster" ;;
      "cluster token") echo "No node leads now." >&2; exit 1 ;;
      *) exec sleep 60 ;;
    esac`,
  )
  const env = { ...process.env, ROOKERY_BIN: rookery, PATH: `${directory}:${process.env.PATH}` }
  const child = spawn(script, [join(directory, "cluster")], { env, stdio: ["ignore", "ignore", "pipe"] })
  afterwards(t, () => child.kill("SIGTERM"))
  const errors = []
  child.stderr.on("data", bytes => errors.push(bytes))
  assert.deepEqual(await once(child, "close"), [1, null])
  assert.match(`${Buffer.concat(errors)}`, /No node leads now\./)
})
