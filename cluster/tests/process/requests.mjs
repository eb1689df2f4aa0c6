// The clients' requests to members: those in flight, those that failed, and answers that no fault excuses.

/** Requests to the members of a cluster on one of its databases. */
export class Requests {
  /** The requests that failed. */
  failures = []
  /** The answers that no fault excuses. */
  wrong = []
  #cluster
  #database
  #timeoutMilliseconds
  #underWay = new Set()

  constructor(cluster, database, timeoutMilliseconds = 8_000) {
    this.#cluster = cluster
    this.#database = database
    this.#timeoutMilliseconds = timeoutMilliseconds
  }

  /** Sends a request to the member at an index. `allowed` are the statuses permitted while nothing is broken. Returns the answer with the member's name and the request's times in microseconds; its status is 0 when none came. */
  async ask(index, allowed, method, path, { body, headers } = {}) {
    const send = ({ node }) => node.request(method, `/databases/${this.#database}/${path}`, body, { headers, timeout: this.#timeoutMilliseconds }).catch(noAnswer)
    return this.#follow(index, { method, path }, send, answer => ({ hasFailed: !allowed.includes(answer.status), isExcusable: isExcusable(answer), text: answer.text }))
  }

  /** Sends a command of Redis to the member at an index. Returns the `reply` as `send` does, undefined when none came, with the times in microseconds. */
  askRedis(index, command, send) {
    const sendOrFail = member => send(member).then(reply => ({ reply, wasSent: true, text: reply?.error ?? "" }), ({ message, wasSent = true }) => ({ wasSent, text: message }))
    return this.#follow(index, { method: "REDIS", path: command.join(" ") }, sendOrFail, ({ reply, text }) => ({
      hasFailed: reply === undefined || reply?.error !== undefined, isExcusable: reply === undefined || isExcusableError(text), text,
    }))
  }

  async #follow(index, what, send, judge) {
    const member = this.#cluster.members[index % this.#cluster.members.length]
    const request = { name: member.name, invoked: performance.now(), ...what }
    this.#underWay.add(request)
    const answer = await send(member)
    this.#underWay.delete(request)
    const completed = performance.now()
    const { hasFailed, isExcusable, text } = judge(answer)
    if (hasFailed) {
      const failure = { ...request, completed, status: answer.status ?? 0, text: text.slice(0, 300) }
      this.failures.push(failure)
      if (!isExcusable) {
        this.wrong.push(failure)
      }

      await new Promise(done => setTimeout(done, 100))
    }

    return { ...answer, name: member.name, invoked: Math.floor(request.invoked * 1000), completed: Math.ceil(completed * 1000) }
  }

  /** Waits until every request that was sent until the time `before` has ended: a hanging request counts as failed only when it is given up. */
  async haveEnded(before) {
    for (const deadline = performance.now() + 2 * this.#timeoutMilliseconds; ;) {
      const pending = [...this.#underWay].filter(({ invoked }) => invoked <= before)
      if (pending.length === 0) {
        return
      }

      if (performance.now() > deadline) {
        throw new Error(`requests that neither end nor are given up: ${JSON.stringify(pending.slice(0, 5))}`)
      }

      await new Promise(done => setTimeout(done, 10))
    }
  }

  /** Returns the failed requests that were in flight between two times. */
  failedWithin(from, to) {
    return this.failures.filter(({ invoked, completed }) => completed >= from && invoked <= to)
  }
}

function noAnswer(broken) {
  // A client that could not connect has sent nothing.
  const wasSent = broken.syscall !== "connect" && !/before secure TLS connection was established/.test(broken.message)
  return { status: 0, wasSent, headers: {}, text: `${broken.message}` }
}

/** Whether this answer to a correct request is permitted while something is broken. It may never report a fault of its own or a missing database. */
function isExcusable({ status, headers, text }) {
  return status === 500 ? !text.includes("a fault of its own")
    : status === 503 ? headers["database-missing"] === undefined
      : [0, 429, 504, 507].includes(status)
}

/** Whether this error of a correct command of Redis is permitted while something is broken. */
function isExcusableError(text) {
  return !/a fault of its own|^(WRONGTYPE|NOPERM|NOAUTH|NOPROTO|EXECABORT) |not an integer|syntax error|unknown command|wrong number of arguments|Protocol error|does not exist/.test(text)
}

/** Returns the outcome of a write that was not answered as done: refused when the answer says so or it was never sent. */
export function outcomeOf({ status, text, wasSent = true }) {
  return status === 201 ? "Done" : status === 409 || !wasSent || text.includes("Nothing was stored") ? "Refused" : "Unknown"
}
