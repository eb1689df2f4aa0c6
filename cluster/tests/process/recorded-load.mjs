// Clients of all three nodes that write and read, and remember what they asked and were told.

const registers = 6
const clientsOfNode = 3

/** Starts nine clients, whose documents are those of a round. `acknowledged` maps ids, each written once, to their version; `history` has the operations on a few contended documents; `failures` what was not answered as asked. */
export function startRecordedLoad(cluster, database, round) {
  const acknowledged = new Map()
  const history = []
  const failures = []
  let version = 0
  let running = true

  async function ask(index, method, id, body, headers) {
    const invoked = performance.now()
    const answer = await send(cluster.nodes[index], method, `/databases/${database}/docs?id=${id}`, body, headers)
    const completed = performance.now()
    if (![200, 201, 404, 409].includes(answer.status)) {
      failures.push({ index, invoked, completed, method, status: answer.status, text: answer.text.slice(0, 300) })
      await new Promise(done => setTimeout(done, 50))
    }

    return { ...answer, invoked: Math.floor(invoked * 1000), completed: Math.ceil(completed * 1000) }
  }

  async function read(client, index, key) {
    const answer = await ask(index, "GET", key)
    if (answer.status !== 200 && answer.status !== 404) {
      return null
    }

    const found = answer.status === 200 ? JSON.parse(answer.text).Results[0] : null
    const changeVector = found?.["@metadata"]["@change-vector"]
    const operation = { client, invoked: answer.invoked, completed: answer.completed, kind: "Get", outcome: "Done", key, value: found?.version ?? 0, etag: etagOf(changeVector) }
    history.push(operation)
    return { ...operation, changeVector }
  }

  async function write(client, index, key, expected) {
    const value = ++version
    const answer = await ask(index, "PUT", key, JSON.stringify({ version: value }), expected && { "If-Match": `"${expected.changeVector}"` })
    const outcome = answer.status === 201 ? "Done" : answer.status === 409 || answer.text.includes("Nothing was stored") ? "Refused" : "Unknown"
    // What a refused compare-and-set found is not said, so that it proves nothing.
    if (expected === undefined || answer.status !== 409) {
      history.push({
        client, invoked: answer.invoked, completed: answer.completed, kind: expected ? "CompareAndSet" : "Put", outcome, key, value,
        expected: expected?.value ?? 0, etag: outcome === "Done" ? etagOf(JSON.parse(answer.text).ChangeVector) : 0,
      })
    }
  }

  async function work(client) {
    const index = client % 3
    for (let turn = 0; running; turn++) {
      const key = `register/${round}/${(client + turn) % registers}`
      const id = `once/${round}/${client}/${turn}`
      const value = ++version
      if ((await ask(index, "PUT", id, JSON.stringify({ version: value }))).status === 201) {
        acknowledged.set(id, value)
      }

      const found = await read(client, index, key)
      if (turn % 2 === 0) {
        await write(client, index, key)
      } else if (found?.value > 0) {
        await write(client, index, key, found)
      }

      await new Promise(done => setTimeout(done, 10))
    }
  }

  const all = Promise.all(Array.from({ length: 3 * clientsOfNode }, (_, client) => work(client)))
  return {
    acknowledged,
    history,
    failures,
    /** Ends the clients, and reads the contended documents once more at every node. */
    async stop() {
      running = false
      await all
      for (const index of [0, 1, 2]) {
        for (let register = 0; register < registers; register++) {
          await read(100 + index, index, `register/${round}/${register}`)
        }
      }
    },
  }
}

// 0 for a connection that broke: nobody knows.
function send(node, method, path, body, headers = {}) {
  return fetch(`${node.url}${path}`, { method, body, headers }).then(
    async answer => ({ status: answer.status, text: await answer.text() }),
    broken => ({ status: 0, text: String(broken.cause ?? broken) })).catch(broken => ({ status: 0, text: String(broken) }))
}

const etagOf = changeVector => changeVector ? Number(/^[A-Z]+:(\d+)/.exec(changeVector)[1]) : 0
