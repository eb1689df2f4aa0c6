// The scripts that run the tests leave nothing behind, however they are ended.
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

// A command that prints its process id and needs a second to clean up. It is a bash script, because bash's `wait` can
// be interrupted.
const slowToEnd = `trap 'sleep 1; echo tidied >"$0"; exit' TERM
sleep 600 &
echo $$
wait`

/** Whether a process runs. A negative number stands for any process of a group. */
function isThere(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The fields of /proc/PID/stat after the name (proc_pid_stat(5)): the state, such as S for asleep, the parent, the group. */
const stateOf = pid => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]]) {
  for (const pipeline of ["", "| cat"]) {
    test(`${signal} to a script ends its command${pipeline && " in a pipeline"} after its clean-up`, { timeout: 60_000 }, async t => {
      const tidied = join(temporaryDirectory(t), "tidied")
      const script = `set -euo pipefail
        . ${limits}
        trap end_begun EXIT
        exit_on_signals
        within 600 bash -c "$1" "$2" ${pipeline}`
      // The script gets its own process group, as in a terminal, where Ctrl+C reaches the whole group.
      const words = ["-c", script, "bash", slowToEnd, tidied]
      const child = spawn("bash", words, { detached: true, stdio: ["ignore", "pipe", "inherit"] })
      const pid = Number((await once(child.stdout, "data")).toString())
      const [, parent, group] = stateOf(pid).map(Number)
      t.after(() => [child.pid, group].filter(leader => isThere(-leader)).forEach(leader => process.kill(-leader, "SIGKILL")))
      // `timeout` of coreutils 9.1 dies of a signal that comes before it has stored the id of its child.
      await until(() => stateOf(parent)[0] === "S")
      process.kill(-child.pid, signal)
      assert.deepEqual(await once(child, "exit"), [code, null])
      assert.equal(readFileSync(tidied, "utf8"), "tidied\n")
      assert.ok(!isThere(-group), "a process of the command still runs")
    })
  }
}

test("A command that exceeds its limit is ended; otherwise the script returns the command's status", () => {
  const status = words => spawnSync("bash", ["-c", `. ${limits}; within ${words}`]).status
  assert.equal(status("0.2 sleep 600"), 124)
  assert.equal(status("600 bash -c 'exit 7'"), 7)
  assert.equal(status("600 true"), 0)
})

test("A run of tests deletes its temporary files", t => {
  const directory = temporaryDirectory(t)
  const run = spawnSync(join(root, "server/tests/run"), ["nonsense"], { env: { ...process.env, TMPDIR: directory } })
  assert.equal(run.status, 64, run.stderr.toString())
  assert.deepEqual(readdirSync(directory), [])
})

test("Tests that do not compile are not run with the files of an earlier build", t => {
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
