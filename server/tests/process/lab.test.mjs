// The test machines ("lab") of the playbooks: the scripts remove what they created, and nothing else.
// (`server/tests/run e2e` tests the playbooks.)
import assert from "node:assert/strict"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { whyNoNamespaces } from "../../../cluster/tests/process/namespaces.mjs"
import { temporaryDirectory, until } from "./node-process.mjs"

const skip = whyNoNamespaces()
const sources = fileURLToPath(new URL("../../../ansible", import.meta.url))

/** Copies the scripts into a temporary directory, so that they write into its artifacts/. */
function copyOf(t) {
  const directory = temporaryDirectory(t)
  const tests = join(directory, "ansible/tests")
  mkdirSync(tests, { recursive: true })
  mkdirSync(join(directory, "artifacts/lab"), { recursive: true })
  cpSync(join(sources, "ansible.cfg"), join(directory, "ansible/ansible.cfg"))
  for (const script of ["e2e", "lab"]) {
    cpSync(join(sources, "tests", script), join(tests, script))
  }

  return { lab: join(directory, "artifacts/lab"), artifacts: join(directory, "artifacts"), tests }
}

test("Removing a lab does not remove the network of another lab", { skip }, t => {
  const { lab, tests } = copyOf(t)
  // The commands run in a separate network namespace, where the bridge belongs to another lab.
  const commands = `ip link add rklab type bridge; ${join(tests, "lab")} down; ip -brief link show rklab`
  assert.match(execFileSync("unshare", ["--net", "bash", "-ec", commands], { encoding: "utf8" }), /^rklab /)
  assert.ok(!existsSync(lab))
})

test("The playbooks' tests do not touch machines that run already", { skip, timeout: 60_000 }, async t => {
  const { lab, tests } = copyOf(t)
  const machine = join(lab, "pi-1")
  mkdirSync(machine)
  // The lab recognizes the process of a running machine by `attend NODE DIRECTORY` in its command line.
  const other = spawn("bash", ["-c", "sleep 600; true", "attend", "pi-1", machine], { detached: true, stdio: "ignore" })
  t.after(() => other.exitCode === null && other.signalCode === null && process.kill(-other.pid, "SIGKILL"))
  await once(other, "spawn")
  writeFileSync(join(machine, "pid"), `${other.pid}\n`)
  const run = spawnSync(join(tests, "e2e"), [], { encoding: "utf8" })
  assert.equal(run.status, 1, run.stderr)
  assert.match(run.stdout, /machines already run: pi-1\..*\n0 passed, 1 failed\n$/)
  process.kill(other.pid, 0)
})

test("The playbooks' tests remove their machines also if they get two signals", { timeout: 60_000 }, async t => {
  const { artifacts, tests } = copyOf(t)
  // The fake scripts below create these files: when the first step starts, when the removal of the machines begins
  // (`begun`.down), and when it has ended.
  const [begun, down] = [join(artifacts, "begun"), join(artifacts, "down")]
  writeFileSync(join(artifacts, "rookery_1_amd64.deb"), "")
  writeFileSync(join(tests, "lab"), `#!/bin/sh\n[ "$1" != down ] || { : >${begun}.down; sleep 1; : >${down}; }\n`)
  // The first command of the first step.
  writeFileSync(join(artifacts, "ansible-galaxy"), `#!/bin/sh\n: >${begun}\nexec sleep 600\n`, { mode: 0o755 })
  const env = { ...process.env, PATH: `${artifacts}:${process.env.PATH}` }
  const run = spawn(join(tests, "e2e"), [], { env, stdio: "ignore" })
  const ended = once(run, "exit")
  t.after(() => run.kill("SIGKILL"))
  await until(() => existsSync(begun))
  run.kill("SIGTERM")
  await until(() => existsSync(`${begun}.down`))
  run.kill("SIGTERM")
  run.kill("SIGINT")
  assert.deepEqual(await ended, [143, null])
  assert.ok(existsSync(down))
})
