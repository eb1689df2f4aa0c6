// Runs the executable as a user does: with input on stdin, with a separate environment, or in a terminal.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { executable } from "./node-process.mjs"

/** The environment of a user who has no settings and whose home is a directory of the test. */
export const environmentAt = home => {
  const { ROOKERY_URL, ROOKERY_TOKEN, ROOKERY_CA, ROOKERY_DATABASE, XDG_CONFIG_HOME, NO_COLOR, COLUMNS, LINES, ...others } = process.env
  return { ...others, HOME: home, TERM: "xterm-256color" }
}

/** Runs a command to its end, with `input` on stdin. `program` is the executable unless the caller passes another. */
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

/** A prefix for a bash command. It makes the command's `descriptor` a full pipe that nobody reads. A write to it blocks, or fails if `blocks` is false. */
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

/** A pseudo-terminal that runs a line of bash, in which $rookery is the executable. `shown` is its output; `type` types keys. */
export class Terminal {
  #bytes = []

  constructor(line, { env, columns = 120, rows = 40 } = {}) {
    // `script` of util-linux copies the size of its own terminal. Here it has none, so `stty` sets the size.
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

  /** Waits until the output from the character `from` on matches `pattern`. */
  async shows(pattern, from = 0) {
    for (const deadline = performance.now() + 120_000; !pattern.test(this.shown.slice(from));) {
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
