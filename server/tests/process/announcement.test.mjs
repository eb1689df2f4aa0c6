// What a node announces by mDNS: the file that it writes for Avahi into systemd's directory.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

test("A node under systemd announces its name, and that it has no owner until it is claimed", { timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const [data, runtime] = [join(directory, "data"), join(directory, "run")]
  const port = await portForMember()
  mkdirSync(runtime)
  const created = await run("cluster", "init", "--data", data, "--name", "home", "--node-name", "pi-1", "--json")
  assert.equal(created.code, 0, created.stderr)
  const credentials = { ca: readFileSync(join(data, "cluster/authority.pem")) }
  const file = join(runtime, "avahi.service")
  const announced = () => (existsSync(file) ? Object.fromEntries([...readFileSync(file, "utf8").matchAll(/<txt-record>(\w+)=(.*)<\/txt-record>/g)].map(([, key, value]) => [key, value])) : {})

  const node = await NodeProcess.serveDuring(t, { data, port, credentials, environment: { RUNTIME_DIRECTORY: runtime } })
  await until(() => announced().state === "unclaimed")
  const { node: id, cluster, name, version } = announced()
  assert.match(id, /^[\w-]{22}$/)
  assert.match(cluster, /^[\w-]{22}$/)
  assert.equal(name, "pi-1")
  await until(() => announced().role === "voter")
  assert.equal(version, (await run("--version")).stdout.split("+")[0].trim())
  assert.match(readFileSync(file, "utf8"), new RegExp(`<type>_rookery._tcp</type>\\s*<port>${port}</port>`))

  assert.equal((await run("claim", "--data", data)).code, 0)
  await until(() => announced().state === "member")
  await node.terminate()
  await NodeProcess.serveDuring(t, { data, port, credentials, environment: { RUNTIME_DIRECTORY: runtime } })
  await until(() => announced().state === "member")
  assert.equal(announced().node, id)
})
