// Settings and data with which a node does not start. It ends with exit code 78 and one sentence that says what is
// wrong and where.
import assert from "node:assert/strict"
import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import tls from "node:tls"
import { join } from "node:path"
import { test } from "node:test"
import { afterwards, checked, freePort, NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

/** Asserts that a command ended with 78 and one sentence. */
function refused({ code, stderr }, pattern) {
  assert.equal(code, 78, stderr)
  assert.match(stderr, pattern)
  assert.equal(stderr.trim().split("\n").length, 1, `one sentence, not:\n${stderr}`)
}

test("A data directory in use is refused with its path", async t => {
  const data = temporaryDirectory(t)
  const node = await NodeProcess.serve({ data })
  afterwards(t, () => node.kill())
  const second = await run("serve", "--data", data, "--listen", `http://127.0.0.1:${await freePort()}`)
  refused(second, new RegExp(`${data}.* in use`))
  assert.equal((await node.request("GET", "/readyz")).status, 200, "the first node still serves")
})

test("A journal directory in use is refused with its path", async t => {
  const journal = temporaryDirectory(t)
  const node = await NodeProcess.serve({ data: temporaryDirectory(t), options: ["--journal", journal] })
  afterwards(t, () => node.kill())
  const [data, port] = [temporaryDirectory(t), await freePort()]
  await (await NodeProcess.serve({ data })).terminate()
  refused(await run("serve", "--data", data, "--journal", journal, "--listen", `http://127.0.0.1:${port}`), new RegExp(`${journal}.* in use`))
  await node.terminate()
  refused(await run("serve", "--data", data, "--journal", journal, "--listen", `http://127.0.0.1:${port}`), new RegExp(`${journal}/journal-.* is the journal of another data directory`))
})

test("The data of a running node is not exported", async t => {
  const data = temporaryDirectory(t)
  const node = await NodeProcess.serve({ data })
  afterwards(t, () => node.kill())
  refused(await run("export", "--data", data), new RegExp(`${data}.* in use`))
})

test("A port in use is refused with its address", async t => {
  const occupied = createServer().listen(0, "127.0.0.1")
  await once(occupied, "listening")
  afterwards(t, () => occupied.close())
  const address = `http://127.0.0.1:${occupied.address().port}`
  refused(await run("serve", "--data", temporaryDirectory(t), "--listen", address), new RegExp(`${address}.*in use`))
})

test("A start that is refused leaves no data directory behind", async t => {
  const occupied = createServer().listen(0, "127.0.0.1")
  await once(occupied, "listening")
  afterwards(t, () => occupied.close())
  const directory = temporaryDirectory(t)
  const data = join(directory, "data")
  const other = join(directory, "other")
  const used = `127.0.0.1:${occupied.address().port}`
  for (const options of [
    ["--listen", `http://${used}`],
    ["--listen", `http://${used}`, "--journal", join(directory, "journal")],
    ["--listen", `https://127.0.0.1:${await freePort()}`],
    ["--claim-code-file", other],
    ["--config", other],
    ["--memory", "1"],
    ["--peers", "nowhere"],
    ["--wrong"],
  ]) {
    refused(await run("serve", "--data", data, ...options), /./)
    assert.deepEqual(readdirSync(directory), [], options.join(" "))
  }

  // `cluster init` creates the directory. The refused start does not add the node's data to it.
  assert.equal((await run("cluster", "init", "--data", data, "--node-name", "pi-1")).code, 0)
  const files = readdirSync(data)
  const listen = ["--listen", `https://127.0.0.1:${await freePort()}`]
  refused(await run("serve", "--data", data, ...listen, "--welcome", used), /for the welcome page/)
  assert.deepEqual(readdirSync(data), files)
  writeFileSync(join(data, "cluster", "node.pem"), "no key")
  refused(await run("serve", "--data", data, ...listen), /node\.pem/)
  assert.deepEqual(readdirSync(data), files)
})

test("Listening beyond loopback needs --insecure", async t => {
  const port = await freePort()
  refused(await run("serve", "--data", temporaryDirectory(t), "--listen", `http://0.0.0.0:${port}`), /--insecure/)
  const node = NodeProcess.start({ data: temporaryDirectory(t), port, options: ["--insecure"], listen: `http://0.0.0.0:${port}` })
  afterwards(t, () => node.kill())
  await node.answers("/readyz", 200)
})

test("A data directory that is a file is refused", async t => {
  const file = join(temporaryDirectory(t), "file")
  writeFileSync(file, "")
  refused(await run("serve", "--data", file, "--listen", `http://127.0.0.1:${await freePort()}`), new RegExp(file))
})

test("Every command ends with 78 for a missing path, for a path that is not a directory, and for impossible values", async t => {
  const directory = temporaryDirectory(t)
  const [file, none] = ["file", "none"].map(name => join(directory, name))
  writeFileSync(file, "")
  assert.equal((await run("cluster", "init", "--data", join(directory, "data"), "--node-name", "pi-1")).code, 0)
  const node = await NodeProcess.serve({ data: join(directory, "data"), port: await portForMember() })
  afterwards(t, () => node.kill())
  const token = "rookery-join-1." // belongs to no cluster
  for (const [pattern, ...words] of [
    [/file: /, "cluster", "init", "--data", file],
    [/file\/under/, "cluster", "init", "--data", join(file, "under")],
    [/none/, "cluster", "recover", "--data", none],
    [/file/, "cluster", "recover", "--data", file],
    [/file/, "backup", "--to", file, "--url", node.url],
    [/file\/under/, "backup", "--to", join(file, "under"), "--url", node.url],
    [/There is no directory .*none/, "restore", "--from", none, "--data", join(directory, "restored")],
    [/There is no directory .*none/, "status", "--data", none],
    [/not a join token/, "cluster", "join", token, "--data", file],
    [/none cannot be read: there is no such file/, "cert", "create", "ann", "--access", "shop:rw", "--pfx-password-file", none, "--url", node.url],
    [/cannot be read: it is a directory/, "token", "ls", "--token-file", directory, "--url", node.url],
    [/--database does not limit the scope metrics/, "token", "create", "ann", "--scope", "metrics", "--database", "shop", "--url", node.url],
    [/scope/i, "token", "create", "ann", "--scope", "reed", "--url", node.url],
    [/Ann B/, "token", "create", "Ann B", "--scope", "read", "--url", node.url],
    [/shop/, "cert", "create", "ann", "--access", "shop", "--to", directory, "--url", node.url],
  ]) {
    refused(await run(...words), pattern)
  }
})

test("A damaged data directory ends with 1 instead of 78, because the setting is not wrong", async t => {
  const data = temporaryDirectory(t)
  await (await NodeProcess.serve({ data })).terminate()
  const format = join(data, "format")
  // Another first letter gives another valid id.
  writeFileSync(format, readFileSync(format, "utf8").replace(/^node (.)/m, (_, first) => `node ${first === "a" ? "b" : "a"}`))
  const { code, stderr } = await run("cluster", "init", "--data", data)
  assert.match(stderr, /format is damaged: its checksum does not match/)
  assert.equal(code, 1)
})

test("A failed TLS handshake is reported with its reason and the advice to check for http", async t => {
  const node = await NodeProcess.serve({ data: temporaryDirectory(t) })
  afterwards(t, () => node.kill())
  const bare = tls.createServer().listen(0, "127.0.0.1") // without a certificate
  await once(bare, "listening")
  afterwards(t, () => bare.close())
  for (const port of [node.port, bare.address().port]) {
    const { code, stderr } = await run("status", "--url", `https://127.0.0.1:${port}`)
    assert.equal(code, 1)
    assert.match(stderr, /^The server at https:\/\/127\.0\.0\.1:\d+\/ did not complete the TLS handshake \([^)]*\w\)\. Check whether its address begins with http\.\n$/)
  }
})

test("A directory that has other files but no node's data is refused, and the message names one file", async t => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, "lost+found"))
  await (await NodeProcess.serve({ data: directory })).terminate()

  const foreign = temporaryDirectory(t)
  writeFileSync(join(foreign, "letters.txt"), "")
  const listen = ["--listen", `http://127.0.0.1:${await freePort()}`]
  refused(await run("serve", "--data", foreign, ...listen), /letters\.txt/)
  assert.deepEqual(readdirSync(foreign), ["letters.txt"], "nothing was changed")
  refused(await run("serve", "--data", join(foreign, "new"), "--journal", foreign, ...listen), /letters\.txt/)
  refused(await run("serve", "--data", join(foreign, "new"), "--journal", join(directory, "journal"), ...listen), /journal-0+1\.segment/)
  assert.deepEqual(readdirSync(foreign), ["letters.txt"], "nothing was changed")
})

test("A wrong option, size, address or configuration file is refused, and the message names where it is", async t => {
  const directory = temporaryDirectory(t)
  const file = join(directory, "rookery.json")
  writeFileSync(file, '{\n  "data": "x",\n  "memroy": "128M"\n}\n')
  refused(await run("serve", "--config", file), /memroy.*line 3/)
  writeFileSync(file, '{\n  "data": "x"\n  "memory": "128M"\n}\n')
  refused(await run("serve", "--config", file), /not valid JSON in line 3/)
  refused(await run("serve", "--config", join(directory, "none.json")), /none\.json/)
  const bare = await run()
  assert.equal(bare.code, 78)
  assert.match(bare.stderr, /^Usage:\n {2}rookery \[command\]/m)
  assert.equal(bare.stdout, "")
  refused(await run("sreve"), /sreve/)
  refused(await run("serve"), /--data/)
  refused(await run("serve", "--data", directory, "--memory", "12M"), /96M/)
  refused(await run("serve", "--data", directory, "--memory", "lots"), /lots/)
  refused(await run("serve", "--data", directory, "--listen", "127.0.0.1:80"), /127\.0\.0\.1:80/)
  refused(await run("serve", "--data", directory, "--listen", "https://127.0.0.1:8443"), /https:/)
  refused(await run("serve", "--data", join(directory, "data"), "--listen", "http://192.0.2.7:8080", "--insecure"), /192\.0\.2\.7/)
  refused(await run("serve", "--data", join(directory, "data"), "--peers", "10.0.0.2:9443,10.0.0.3"), /"10\.0\.0\.3" is not an address of a member/)
  writeFileSync(file, JSON.stringify({ data: join(directory, "data"), peers: "nowhere" }))
  refused(await run("serve", "--config", file), /"nowhere" is not an address/)
  refused(await run("serve", "--data", directory, "--lisen", "x"), /--lisen/)
})

test("A preset claim code is refused if it is weak or missing; a valid one claims the node and is not printed", { timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const [data, file] = [join(directory, "data"), join(directory, "claim-code")]
  const port = await portForMember()
  assert.equal((await run("cluster", "init", "--data", data)).code, 0)
  const serve = ["serve", "--data", data, "--listen", `https://127.0.0.1:${port}`, "--claim-code-file", file]
  refused(await run(...serve), /claim-code cannot be read: there is no such file/)
  writeFileSync(file, "pelican-orbit\n")
  const weak = await run(...serve)
  refused(weak, /claim-code must hold at least 16 letters and digits, and holds 12/)
  assert.doesNotMatch(weak.stderr, /pelican/)
  writeFileSync(file, "pelican-orbit-lamp-7\n")
  const ca = join(data, "cluster/authority.pem")
  const node = await NodeProcess.serveDuring(t, { data, port, credentials: { ca: readFileSync(ca) }, options: ["--claim-code-file", file] })
  await until(() => /has no owner yet\. Claim it with the code that .*claim-code holds/.test(node.log))
  const claim = code => run("claim", "--url", node.url, "--ca", ca, "--code", code)
  assert.match((await claim("pelican-orbit-lamp-8")).stderr, /not the code of this node/)
  const claimed = await claim("PELICAN orbit lamp 7")
  assert.match(claimed.stdout, /^rookery_/, claimed.stderr)
  assert.doesNotMatch(node.log, /pelican/i)
})

test("The welcome page is served on its own port, and a node does not start if it cannot serve the page", { timeout: 120_000 }, async t => {
  const data = join(temporaryDirectory(t), "data")
  const port = await portForMember()
  assert.equal((await run("cluster", "init", "--data", data, "--name", "home", "--node-name", "pi-1")).code, 0)
  const occupied = createServer().listen(0, "127.0.0.1")
  await once(occupied, "listening")
  afterwards(t, () => occupied.close())
  const used = `127.0.0.1:${occupied.address().port}`
  refused(await run("serve", "--data", data, "--listen", `https://127.0.0.1:${port}`, "--welcome", used), new RegExp(`${used} for the welcome page: .*in use`))
  refused(await run("serve", "--data", data, "--listen", `http://127.0.0.1:${port}`, "--welcome", used), /needs a node that listens on https/)
  const free = `127.0.0.1:${await freePort()}`
  const pem = readFileSync(join(data, "cluster/authority.pem"), "utf8")
  // As the image's first boot writes it.
  const board = temporaryDirectory(t)
  mkdirSync(join(board, "run/rookery-image"), { recursive: true })
  writeFileSync(join(board, "run/rookery-image/settings-notes.txt"), "timezone: Zulu must be a name\nhostname: 0123 must have a letter\n")
  const environment = { ROOKERY_SIMULATED_BOARD: board }
  const node = await NodeProcess.serveDuring(t, { data, port, credentials: { ca: pem }, options: ["--welcome", free], environment })
  const page = await (await fetch(`http://${free}/`)).text()
  assert.match(page, /<h1>pi-1<\/h1>/)
  assert.match(page, /<li>timezone: Zulu must be a name<\/li>\n<li>hostname: 0123 must have a letter<\/li>/)
  const certificate = new X509Certificate(await (await fetch(`http://${free}/rookery-ca.pem`)).text())
  assert.equal(certificate.fingerprint256, new X509Certificate(pem).fingerprint256)
  assert.ok(certificate.fingerprint256.match(/(\w\w:){7}\w\w/g).every(group => page.includes(group)), "the page has the fingerprint")
  assert.equal((await fetch(`http://${free}/livez`)).status, 404, "the welcome page's port serves no routes of the node")
  assert.equal(await node.terminate(), 0)
})

test("A command ends an upgrade, and an older version refuses newer data and names the version to install", { timeout: 120_000 }, async t => {
  const upToDate = "Everything is written at level 3, the newest that this program knows.\n"
  // A node that has just started may not have announced its format level yet. Then the first call reports that.
  const finalized = async url => {
    assert.equal((await run("cluster", "finalize-upgrade", "--url", url)).code, 0)
    return (await run("cluster", "finalize-upgrade", "--url", url)).stdout
  }
  const alone = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t) })
  assert.equal(await finalized(alone.url), upToDate)
  const data = join(temporaryDirectory(t), "data")
  assert.equal((await run("cluster", "init", "--data", data)).code, 0)
  const member = await NodeProcess.serveDuring(t, { data, port: await portForMember() })
  assert.equal(await finalized(member.url), upToDate)
  await member.terminate()
  writeFileSync(join(data, "format-level"), checked("rookery format level 4 9.0.1\n"))
  refused(await run("serve", "--data", data), /is written at format level 4, and this program, version .*, knows levels up to 3: install version 9\.0\.1 or a newer one\. Nothing was changed/)
})

test("The command line wins over the configuration file", async t => {
  const data = temporaryDirectory(t)
  const file = join(data, "rookery.json")
  const port = await freePort()
  writeFileSync(file, JSON.stringify({ data: join(data, "data"), listen: "http://127.0.0.1:1", memory: "128M", insecure: false }))
  const node = NodeProcess.start({ data: join(data, "other"), port, options: ["--config", file] })
  afterwards(t, () => node.kill())
  await node.answers("/readyz", 200)
})

test("An unknown option of a `rookery cluster node` command is refused with its name", async () => {
  for (const words of [["transfer", "--bogus"], ["rm", "--bogus"], ["promote", "b", "--bogus"]]) {
    refused(await run("cluster", "node", ...words), /^"--bogus" is not a command or option here\. See `rookery cluster node [a-z]+ --help`\.$/m)
  }
})
