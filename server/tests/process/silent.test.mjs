// For a node that accepts connections and never answers, each command ends by itself with a sentence that names the
// address.
import assert from "node:assert/strict"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { command, environmentAt } from "./commands.mjs"
import { afterwards, temporaryDirectory } from "./node-process.mjs"

// The arguments of every command that sends requests to a node. FILE stands for a file with JSON, TO for a file that
// does not exist.
const asking = {
  "alerts test": "",
  backup: "--to TO",
  bench: "--seconds 1",
  "cert create": "me --access admin --to DIRECTORY",
  "cert ls": "",
  "cert rm": "me",
  claim: "--code ABCDEFGH23456789",
  "cluster ca retire": "",
  "cluster ca rotate": "",
  "cluster ca show": "",
  "cluster clock confirm": "",
  "cluster finalize-upgrade": "",
  "cluster node demote": "B",
  "cluster node ls": "",
  "cluster node promote": "B",
  "cluster node replace": "B --yes",
  "cluster node rm": "B --yes",
  "cluster node transfer": "B",
  "cluster token create": "",
  "db create": "birds",
  "db ls": "",
  "db rm": "birds --yes birds",
  "debug-package": "--to TO",
  delete: "birds rooks/1",
  doctor: "",
  export: "birds",
  get: "birds rooks/1",
  import: "birds FILE",
  "index disable": "birds X",
  "index enable": "birds X",
  "index errors": "birds",
  "index ls": "birds",
  "index pause": "birds X",
  "index put": "birds FILE",
  "index reset": "birds X",
  "index resume": "birds X",
  "index rm": "birds X",
  "index show": "birds X",
  "index wait": "birds",
  io: "",
  logs: "",
  patch: "birds UPDATE --yes",
  put: "birds rooks/1 FILE",
  query: "birds FROM",
  rm: "birds --query FROM --yes",
  shell: "birds",
  status: "",
  "token create": "me --scope read",
  "token ls": "",
  "token reset": "me",
  "token rm": "me",
  top: "",
}

// Commands that take an address but run until their input or the user ends them.
const serving = ["snmp"]

test("Every command ends when its node accepts the connection and never answers", { timeout: 400_000 }, async t => {
  const directory = temporaryDirectory(t)
  const sockets = new Set()
  const silent = createServer(socket => {
    sockets.add(socket)
    socket.on("error", () => {})
  }).listen(0, "127.0.0.1")
  await once(silent, "listening")
  afterwards(t, () => {
    sockets.forEach(socket => socket.destroy())
    silent.close()
  })
  const url = `http://127.0.0.1:${silent.address().port}`
  const file = join(directory, "file.json")
  writeFileSync(file, '{"Name":"X","Maps":["from x in docs.Rooks select new { x.Name }"]}\n')
  const env = environmentAt(directory)
  const { stdout: completion } = await command(["completion", "bash"], { env })
  const known = [...completion.matchAll(/^ {4}' ([a-z -]+)'\) .*--url/gm)].map(([, name]) => name)
  assert.deepEqual(known.filter(name => !serving.includes(name)).sort(), Object.keys(asking).sort())

  const ends = await Promise.all(Object.entries(asking).map(async ([name, rest]) => {
    const words = rest.split(" ").filter(word => word !== "").map(word => ({
      DIRECTORY: directory,
      FILE: file,
      FROM: "from Rooks where Name = 'a'",
      TO: join(directory, name.replaceAll(" ", "-")),
      UPDATE: "from Rooks update { this.Name = 'b' }",
    })[word] ?? word)
    const children = []
    const limit = setTimeout(() => children.forEach(child => child.kill("SIGKILL")), 300_000)
    const { code, stderr, stdout } = await command(
      [...name.split(" "), ...words, "--url", url], { env, input: name === "shell" ? "from Rooks" : undefined, onStart: child => children.push(child) })
    clearTimeout(limit)
    return { name, code, text: stderr + stdout }
  }))
  assert.deepEqual(ends.filter(({ code, text }) => code !== 1 || !text.includes(url)), [])
})
