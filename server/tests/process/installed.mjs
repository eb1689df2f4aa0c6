// Finds out which commands of other projects are installed.
import { spawnSync } from "node:child_process"

/** An option for `test`: if one of the commands is missing, the test is skipped with its name, and counted as skipped. */
export function needing(...commands) {
  const missing = commands.filter(command => spawnSync("sh", ["-c", `command -v ${command}`]).status !== 0)
  return { skip: missing.length > 0 ? `needs ${missing.join(" and ")}` : false }
}
