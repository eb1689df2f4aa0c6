// Runs Rookery.Histories on the recorded answers.
import { once } from "node:events"
import { join } from "node:path"
import { spawn } from "node:child_process"

const checker = join(import.meta.dirname, "../Rookery.Histories/bin/Release/net10.0/history.dll")

/** Checks a file of operations; the exit code is 0 when an order explains all of them. */
export async function checkHistory(path) {
  const child = spawn("dotnet", [checker, "check", path], { stdio: ["ignore", "pipe", "pipe"] })
  const output = []
  child.stdout.on("data", bytes => output.push(bytes))
  child.stderr.on("data", bytes => output.push(bytes))
  const [code] = await once(child, "close")
  return { code, text: Buffer.concat(output).toString().trim() }
}
