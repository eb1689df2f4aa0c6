// Redis itself on a free port, whose answers are compared with those of the node.
import { spawn, spawnSync } from "node:child_process"
import { afterwards, freePort, temporaryDirectory } from "../process/node-process.mjs"
import { Resp } from "./resp.mjs"

/** Whether redis-server is installed. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0

/** Starts redis-server without persistence; it ends with the test. Returns its port. */
export async function startRedis(test) {
  const port = await freePort()
  const child = spawn("redis-server", ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", temporaryDirectory(test)], { stdio: "ignore" })
  const ended = new Promise(done => child.once("exit", done))
  afterwards(test, async () => {
    child.kill("SIGKILL")
    await ended
  })
  for (let attempt = 0; attempt < 500; attempt++) {
    try {
      const resp = await Resp.connect(port)
      resp.close()
      return port
    } catch {
      await new Promise(done => setTimeout(done, 10))
    }
  }

  throw new Error("redis-server does not listen")
}
