// SIGTERM: requests in flight are answered, nothing is lost, the exit code is 0.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { lost, startLoad } from "./load.mjs"
import { afterwards, NodeProcess, temporaryDirectory, until } from "./node-process.mjs"

test("SIGTERM during load exits 0 and loses nothing", async t => {
  const data = temporaryDirectory(t)
  let node = await NodeProcess.serve({ data })
  afterwards(t, () => node.kill())
  await node.createDatabase("load")
  const load = startLoad(node, "load")
  await new Promise(done => setTimeout(done, 500))
  assert.equal(await node.terminate(), 0, node.log)
  await load.stop()
  assert.ok(load.acknowledged.size > 0)

  node = await NodeProcess.serve({ data })
  assert.deepEqual(await lost(node, "load", load.acknowledged), [])
})

for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT"]) {
  test(`${signal} stops a node as SIGTERM does`, async t => {
    const node = await NodeProcess.serve({ data: temporaryDirectory(t) })
    afterwards(t, () => node.kill())
    await node.createDatabase("birds")
    node.child.kill(signal)
    assert.deepEqual(await once(node.child, "exit"), [0, null], node.log)
  })
}

test("SIGTERM ends an idle node with open connections and feeds", async t => {
  const node = await NodeProcess.serve({ data: temporaryDirectory(t) })
  afterwards(t, () => node.kill())
  await node.createDatabase("quiet")
  const feed = fetch(`${node.url}/databases/quiet/changes/stream`)
  assert.equal((await feed).status, 200)
  assert.equal(await node.terminate(), 0, node.log)
})

const batch = (count, document) => JSON.stringify({ Commands: Array.from({ length: count }, (_, n) => ({ Id: `d/${String(n).padStart(5, "0")}`, Type: "PUT", Document: document })) })

test("SIGTERM breaks off a stream that its client does not read", { timeout: 60_000 }, async t => {
  const node = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t) })
  await node.createDatabase("wide")
  await node.expect(201, "POST", "/databases/wide/bulk_docs", batch(5000, { t: "x".repeat(4000) }))
  const reader = connect(node.port, "127.0.0.1")
  reader.on("error", () => {})
  reader.write("GET /databases/wide/streams/docs?format=jsonl HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
  await once(reader, "readable")
  assert.equal(await node.terminate(), 0, node.log)
  assert.doesNotMatch(node.log, /cut off/)

  // The received part does not look complete: there is no last chunk.
  let last = ""
  reader.on("data", bytes => { last = (last + bytes.toString("latin1")).slice(-20) })
  reader.resume()
  await once(reader, "close")
  assert.ok(!last.endsWith("0\r\n\r\n"), JSON.stringify(last))
})

test("SIGTERM ends a read that follows very many include paths", { timeout: 120_000 }, async t => {
  const node = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t) })
  await node.createDatabase("deep")
  const paths = Array.from({ length: 2000 }, (_, n) => `include=p${n}`).join("&")
  await node.expect(201, "PUT", "/databases/deep/docs?id=deep", `${'{"x":'.repeat(6)}${"[".repeat(100)}${Array(2_000_000).fill("[]").join()}${"]".repeat(100)}${"}".repeat(6)}`)
  const many = await node.request("POST", `/databases/deep/docs?${paths.slice(0, 7000)}`, JSON.stringify({ Ids: ["deep"] }))
  assert.equal(many.status, 400)
  assert.match(many.text, /at most 64 include paths/)

  // 32 include paths, each of which matches very many values.
  const steps = Array.from({ length: 32 }, (_, n) => `include=x${[0, 1, 2, 3, 4].map(bit => n & (1 << bit) ? "[]" : ".x").join("")}${"[]".repeat(100)}`)
  const read = node.request("GET", `/databases/deep/docs?id=deep&${steps.join("&")}`).then(answer => answer, failure => ({ failure }))
  await new Promise(done => setTimeout(done, 1000))
  assert.equal(await node.terminate(), 0, node.log)
  assert.doesNotMatch(node.log, /cut off/)
  const { status, text } = await read
  assert.equal(status, 503, text)
  assert.match(text, /The node is stopping/)
})

/**
 * Compiles a library that blocks the disk syncs of a process while one file exists. When it blocks a sync of a path
 * that contains `watched`, it creates another file. Returns null if there is no compiler. The library replaces dlsym,
 * because the runtime looks up system calls by name.
 */
function heldSyncs(directory, watched) {
  const [source, library, held, blocked] = ["held.c", "held.so", "held", "blocked"].map(name => join(directory, name))
  writeFileSync(source, `
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static int is_watched(int file) {
      char link[32], path[4096] = "";
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      return readlink(link, path, sizeof path - 1) > 0 && strstr(path, "${watched}") != NULL;
    }
    static void await_release(int file) {
      int reports = is_watched(file);
      while (access(getenv("HELD_SYNCS"), F_OK) == 0) {
        if (reports) close(open(getenv("BLOCKED_SYNC"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        reports = 0;
        usleep(20000);
      }
    }
    static int data(int file) { await_release(file); return syscall(SYS_fdatasync, file); }
    static int all(int file) { await_release(file); return syscall(SYS_fsync, file); }
    void *dlsym(void *library, const char *name) {
      static void *(*next)(void *, const char *);
      const char *versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5" };
      for (int i = 0; next == NULL && i < 3; i++) next = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
      return strcmp(name, "fdatasync") == 0 ? (void *)data : strcmp(name, "fsync") == 0 ? (void *)all : next(library, name);
    }`)
  const compiled = spawnSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
  return compiled.status === 0 ? {
    environment: { LD_PRELOAD: library, HELD_SYNCS: held, BLOCKED_SYNC: blocked },
    hold: () => {
      rmSync(blocked, { force: true })
      writeFileSync(held, "")
    },
    isBlocked: () => existsSync(blocked),
    release: () => rmSync(held),
  } : null
}

/** Returns the library that blocks syncs. Without a compiler, skips the test and returns null. */
function heldSyncsOr(t, directory, watched) {
  const disk = heldSyncs(directory, watched)
  if (disk === null) {
    assert.ok(!process.env.CI, "needs cc (Debian: gcc, libc6-dev)")
    t.skip("needs cc (Debian: gcc, libc6-dev)")
  }

  return disk
}

test("SIGTERM breaks off a start that waits for its disk, and loses nothing", { timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const disk = heldSyncsOr(t, directory, "/data")
  if (disk === null) return
  const settings = { data: join(directory, "data"), environment: disk.environment }
  let node = await NodeProcess.serve(settings)
  afterwards(t, () => node.kill())
  await node.createDatabase("birds")
  await node.expect(201, "PUT", "/databases/birds/docs?id=first", '{"n":1}')
  await node.kill()

  disk.hold()
  node = NodeProcess.start({ ...settings, port: node.port })
  await until(() => disk.isBlocked())
  node.child.kill("SIGTERM")
  assert.equal(await node.ended, 0, node.log)
  assert.match(node.log, /told to stop while it started/)

  disk.release()
  node = await NodeProcess.serve(settings)
  assert.equal((await node.expect(200, "GET", "/databases/birds/docs?id=first")).Results[0].n, 1)
  assert.equal(await node.terminate(), 0, node.log)
})

test("A stop waits for a disk that does not answer, for a minute at most", { timeout: 240_000 }, async t => {
  const directory = temporaryDirectory(t)
  const disk = heldSyncsOr(t, directory, "/journal")
  if (disk === null) return
  const data = join(directory, "data")
  const serve = () => NodeProcess.serve({ data, environment: disk.environment })
  let node = await serve()
  afterwards(t, () => node.kill())
  await node.createDatabase("slow")
  await node.expect(201, "PUT", "/databases/slow/docs?id=first", "{}")

  // The blocked sync may belong to other work than the write, such as a prepared segment.
  const isWriting = async () => {
    const inFlight = /^rookery_http_requests_in_flight (\d+)$/m.exec((await node.request("GET", "/metrics")).text)
    return disk.isBlocked() && Number(inFlight[1]) >= 2
  }

  // The disk answers after eleven seconds. The write is cut off, and the stop is clean.
  disk.hold()
  let write = assert.rejects(node.request("PUT", "/databases/slow/docs?id=second", "{}"))
  await until(isWriting)
  node.child.kill("SIGTERM")
  await until(() => /had no answer 10 s after the stop began, and were cut off/.test(node.log))
  await write
  disk.release()
  assert.equal(await node.ended, 0, node.log)
  node = await serve()
  await node.expect(200, "GET", "/databases/slow/docs?id=first")

  // If the disk never answers, the process ends and logs what did not end.
  disk.hold()
  write = assert.rejects(node.request("PUT", "/databases/slow/docs?id=third", "{}"))
  await until(isWriting)
  node.child.kill("SIGTERM")
  assert.equal(await node.ended, 1, node.log)
  await write
  assert.match(node.log, / did not end within 60 s of the stop, so the process exits as in a power cut/)
  disk.release()
  node = await serve()
  await node.expect(200, "GET", "/databases/slow/docs?id=first")
  assert.equal(await node.terminate(), 0, node.log)
})
