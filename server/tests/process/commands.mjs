// The executable as a user starts it: with input on stdin, with an environment of its own, in a terminal.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { executable } from "./node-process.mjs"

/** The environment of a user without settings, whose home is a directory of the test. */
export const environmentAt = home => {
  const { ROOKERY_URL, ROOKERY_TOKEN, ROOKERY_CA, ROOKERY_DATABASE, XDG_CONFIG_HOME, NO_COLOR, COLUMNS, LINES, ...others } = process.env
  return { ...others, HOME: home, TERM: "xterm-256color" }
}

/** Runs a command to its end, with `input` on stdin; another program than the executable where one is named. */
export async function command(words, { input = "", env, onStart, program = executable } = {}) {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], env })
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  onStart?.(child)
  return await endOf(child)
}

async function endOf(child) {
  const output = { stdout: [], stderr: [] }
  child.stdout.on("data", bytes => output.stdout.push(bytes))
  child.stderr.on("data", bytes => output.stderr.push(bytes))
  const [code, signal] = await once(child, "close")
  return { code: code ?? signal, stdout: Buffer.concat(output.stdout).toString(), stderr: Buffer.concat(output.stderr).toString() }
}

/** A prefix for a command in bash: its `descriptor` is then a full pipe that nobody reads. A write to it fails unless it `blocks`. */
export const unread = (descriptor, { blocks = true } = {}) => `python3 -c '
import os, sys
reader, writer = os.pipe()
os.set_inheritable(reader, True)
os.set_blocking(writer, False)
try:
    while True: os.write(writer, b"x" * 4096)
except BlockingIOError: pass
os.set_blocking(writer, ${blocks ? "True" : "False"})
os.dup2(writer, ${descriptor})
os.execv(sys.argv[1], sys.argv[1:])' `

/** A pseudo-terminal in which a line of bash runs, where $rookery is the executable. What it shows is in `shown`; what is typed goes to `type`. */
export class Terminal {
  #bytes = []

  constructor(line, { env, columns = 120, rows = 40 } = {}) {
    // `script` of util-linux creates the terminal with the size of its own one, and it has none.
    const script = `stty cols ${columns} rows ${rows}; ${line}`
    this.child = spawn("script", ["--quiet", "--flush", "--return", "--command", `bash -c '${script.replaceAll("'", `'\\''`)}'`, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...env, rookery: executable, SHELL: "/bin/bash" },
    })
    this.child.stdout.on("data", bytes => this.#bytes.push(bytes))
    this.child.stdin.on("error", () => {})
    this.ended = once(this.child, "close").then(([code, signal]) => code ?? signal)
  }

  get shown() {
    return Buffer.concat(this.#bytes).toString()
  }

  /** Waits until it has shown something after the character `from`. */
  async shows(pattern, from = 0) {
    for (const deadline = performance.now() + 60_000; !pattern.test(this.shown.slice(from));) {
      if (performance.now() > deadline) {
        throw new Error(`the terminal does not show ${pattern}:\n${JSON.stringify(this.shown.slice(-4000))}`)
      }

      await new Promise(done => setTimeout(done, 20))
    }
  }

  type(keys) {
    this.child.stdin.write(keys)
  }
}
