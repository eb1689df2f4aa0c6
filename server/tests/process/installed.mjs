// Which commands of others are there.
import { spawnSync } from "node:child_process"

/** An option for `test`: without one of the commands it is skipped by name, and counted as that. */
export function needing(...commands) {
  const missing = commands.filter(command => spawnSync("sh", ["-c", `command -v ${command}`]).status !== 0)
  return { skip: missing.length > 0 ? `needs ${missing.join(" and ")}` : false }
}
