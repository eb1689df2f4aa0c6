// What the scripts leave behind that run the tests: nothing, however they are ended.
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { temporaryDirectory, until } from "./node-process.mjs"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const limits = join(root, "server/tests/limits.sh")

// A command that says its process id, and takes its time to tidy up. Bash, because its `wait` may be interrupted.
const slowToEnd = `trap 'sleep 1; echo tidied >"$0"; exit' TERM
sleep 600 &
echo $$
wait`

/** Whether there is a process, or, of a negative number, one of a group. */
function isThere(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Its state, such as S while it sleeps, its parent and its group: /proc/PID/stat behind the name, proc_pid_stat(5). */
const stateOf = pid => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]]) {
  for (const behind of ["", "| cat"]) {
    test(`${signal} to a script ends what it runs${behind && " in a pipeline"}, when that has tidied up`, { timeout: 60_000 }, async t => {
      const tidied = join(temporaryDirectory(t), "tidied")
      const script = `set -euo pipefail
        . ${limits}
        trap end_begun EXIT
        exit_on_signals
        within 600 bash -c "$1" "$2" ${behind}`
      // A process group of its own, as a terminal gives it, which a Ctrl+C reaches as a whole.
      const words = ["-c", script, "bash", slowToEnd, tidied]
      const child = spawn("bash", words, { detached: true, stdio: ["ignore", "pipe", "inherit"] })
      const pid = Number((await once(child.stdout, "data")).toString())
      const [, parent, group] = stateOf(pid).map(Number)
      t.after(() => [child.pid, group].filter(one => isThere(-one)).forEach(left => process.kill(-left, "SIGKILL")))
      // `timeout` of coreutils 9.1 dies of a signal that comes before it has noted whom it started.
      await until(() => stateOf(parent)[0] === "S")
      process.kill(-child.pid, signal)
      assert.deepEqual(await once(child, "exit"), [code, null])
      assert.equal(readFileSync(tidied, "utf8"), "tidied\n")
      assert.ok(!isThere(-group), "something of the command goes on")
    })
  }
}

test("A command that takes longer than its limit is ended, and its status is kept otherwise", () => {
  const status = words => spawnSync("bash", ["-c", `. ${limits}; within ${words}`]).status
  assert.equal(status("0.2 sleep 600"), 124)
  assert.equal(status("600 bash -c 'exit 7'"), 7)
  assert.equal(status("600 true"), 0)
})

test("A run of tests takes its notes away", t => {
  const directory = temporaryDirectory(t)
  const run = spawnSync(join(root, "server/tests/run"), ["nonsense"], { env: { ...process.env, TMPDIR: directory } })
  assert.equal(run.status, 64, run.stderr.toString())
  assert.deepEqual(readdirSync(directory), [])
})

test("Tests that do not compile are not run as they were before", t => {
  const directory = temporaryDirectory(t)
  for (const command of ["dotnet", "npm", "npx"]) {
    writeFileSync(join(directory, command), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
  }

  const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` }
  const run = spawnSync(join(root, "server/tests/run"), ["check"], { env, encoding: "utf8" })
  assert.equal(run.status, 1, run.stderr)
  assert.match(run.stdout, /^The \.NET tests are not run, because they do not compile\.$/m)
  assert.doesNotMatch(run.stdout, /Rookery\.Journal\.Tests/)
})
