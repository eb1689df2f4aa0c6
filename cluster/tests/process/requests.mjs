// What clients ask of members: what is under way, what failed, and what no fault excuses.

/** Requests to the members of a cluster on one of its databases. */
export class Requests {
  /** What was not answered as it should have been. */
  failures = []
  /** Answers that no fault excuses. */
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

  /** Asks the member at a place, or the one that has come there; `allowed` are the statuses that an answer to it may have where nothing is broken. */
  async ask(index, allowed, method, path, { body, headers } = {}) {
    const { name, node } = this.#cluster.members[index % this.#cluster.members.length]
    const request = { name, invoked: performance.now(), method, path }
    this.#underWay.add(request)
    const answer = await node.request(method, `/databases/${this.#database}/${path}`, body, { headers, timeout: this.#timeoutMilliseconds }).catch(noAnswer)
    this.#underWay.delete(request)
    const completed = performance.now()
    if (!allowed.includes(answer.status)) {
      const failure = { ...request, completed, status: answer.status, text: answer.text.slice(0, 300) }
      this.failures.push(failure)
      if (!isExcusable(answer)) {
        this.wrong.push(failure)
      }

      await new Promise(done => setTimeout(done, 100))
    }

    return { ...answer, name, invoked: Math.floor(request.invoked * 1000), completed: Math.ceil(completed * 1000) }
  }

  /** Waits until everything that was asked before a moment has ended: a request that hangs is a failure only when it is given up. */
  async haveEnded(before) {
    for (const deadline = performance.now() + 2 * this.#timeoutMilliseconds; ;) {
      const left = [...this.#underWay].filter(({ invoked }) => invoked <= before)
      if (left.length === 0) {
        return
      }

      if (performance.now() > deadline) {
        throw new Error(`requests that neither end nor are given up: ${JSON.stringify(left.slice(0, 5))}`)
      }

      await new Promise(done => setTimeout(done, 10))
    }
  }

  /** What failed and was under way at some moment from one to another. */
  failedWithin(from, to) {
    return this.failures.filter(({ invoked, completed }) => completed >= from && invoked <= to)
  }
}

function noAnswer(broken) {
  // Who could not connect has sent nothing.
  const wasSent = broken.syscall !== "connect" && !/before secure TLS connection was established/.test(broken.message)
  return { status: 0, wasSent, headers: {}, text: `${broken.message}` }
}

/** Whether a member may answer so to a request that is right, when something is broken. That it has a fault of its own, or no such database, it may never say. */
function isExcusable({ status, headers, text }) {
  return status === 500 ? !text.includes("a fault of its own")
    : status === 503 ? headers["database-missing"] === undefined
      : [0, 429, 504, 507].includes(status)
}

/** What a write that was answered otherwise than as done came to: it was refused when that was said, or when it was never sent. */
export function outcomeOf({ status, text, wasSent = true }) {
  return status === 201 ? "Done" : status === 409 || !wasSent || text.includes("Nothing was stored") ? "Refused" : "Unknown"
}
