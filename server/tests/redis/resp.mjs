// A minimal connection that shows every reply as it is: version 2 of the protocol, without the conveniences of a client.
import { connect } from "node:net"
import { connect as connectTls } from "node:tls"
import { once } from "node:events"

export class Resp {
  #socket
  #received = Buffer.alloc(0)
  #waiting = []

  /** Connects. `credentials` are options of node:tls; without them the connection is not encrypted. */
  static async connect(port, host = "127.0.0.1", credentials = undefined) {
    const resp = new Resp()
    resp.#socket = credentials ? connectTls({ port, host, ...credentials }) : connect({ port, host, noDelay: true })
    resp.#socket.on("data", bytes => resp.#receive(bytes))
    resp.#socket.on("close", () => resp.#waiting.splice(0).forEach(({ failed }) => failed(new Error("the connection ended"))))
    resp.#socket.on("error", () => {})
    await once(resp.#socket, credentials ? "secureConnect" : "connect")
    return resp
  }

  /** Whether the connection has ended. */
  get isClosed() {
    return this.#socket.destroyed
  }

  /** Sends commands together, and returns their replies. Strings are shown as Latin-1, errors as {error}. */
  call(commands) {
    return Promise.all(this.send(commands))
  }

  /** Sends commands together, and returns a promise of each reply. */
  send(commands) {
    const replies = commands.map(() => new Promise((done, failed) => this.#waiting.push({ done, failed })))
    if (this.isClosed) {
      this.#waiting.splice(0).forEach(({ failed }) => failed(new Error("the connection had ended")))
    } else {
      this.#socket.write(Buffer.concat(commands.map(encode)))
    }

    // A caller that awaits only the last one must not fail because of the others.
    replies.forEach(reply => reply.catch(() => {}))
    return replies
  }

  close() {
    this.#socket.destroy()
  }

  #receive(bytes) {
    this.#received = Buffer.concat([this.#received, bytes])
    for (;;) {
      const reply = parse(this.#received, 0)
      if (reply === null) {
        return
      }

      this.#received = this.#received.subarray(reply.end)
      this.#waiting.shift()?.done(reply.value)
    }
  }
}

const encode = command => Buffer.concat([
  Buffer.from(`*${command.length}\r\n`),
  ...command.flatMap(part => {
    const bytes = Buffer.from(part, "latin1")
    return [Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")]
  }),
])

/** Parses one reply; null if its rest has not arrived. */
function parse(bytes, at) {
  const lineEnd = bytes.indexOf("\r\n", at)
  if (lineEnd < 0) {
    return null
  }

  const line = bytes.toString("latin1", at + 1, lineEnd)
  const end = lineEnd + 2
  switch (String.fromCharCode(bytes[at])) {
    case "+": return { value: { simple: line }, end }
    case "-": return { value: { error: line }, end }
    case ":": return { value: Number(line), end }
    case "$": {
      const length = Number(line)
      if (length < 0) {
        return { value: null, end }
      }

      return bytes.length < end + length + 2 ? null : { value: bytes.toString("latin1", end, end + length), end: end + length + 2 }
    }
    case "*": {
      const count = Number(line)
      if (count < 0) {
        return { value: { nullArray: true }, end }
      }

      const items = []
      let position = end
      for (let i = 0; i < count; i++) {
        const item = parse(bytes, position)
        if (item === null) {
          return null
        }

        items.push(item.value)
        position = item.end
      }

      return { value: items, end: position }
    }
    default: throw new Error(`a reply begins with ${bytes[at]}`)
  }
}
