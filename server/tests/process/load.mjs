// Writers that remember the acknowledged writes, and the check that a node still has them.

/** Starts `writers` closed loops of PUTs, overwrites and batches on `database`. In the result, `acknowledged` maps ids to the version that was acknowledged last, and `refusals` maps statuses to their number. */
export function startLoad(node, database, { writers = 16, documents = 200, padding = 100 } = {}) {
  const acknowledged = new Map()
  const refusals = new Map()
  let version = Date.now() * 1000
  let running = true

  async function write(writer) {
    for (let turn = 0; running; turn++) {
      // Every writer owns its documents, so that versions of one document are acknowledged in order.
      const ids = turn % 8 === 7 ? [0, 1, 2, 3].map(n => `w${writer}/b${n}`) : [`w${writer}/${turn % documents}`]
      const stamp = ++version
      const answer = await send(node, database, ids, stamp, padding)
      if (answer === null) {
        return
      }

      if (answer === 201) {
        ids.forEach(id => acknowledged.set(id, stamp))
      } else {
        refusals.set(answer, (refusals.get(answer) ?? 0) + 1)
      }
    }
  }

  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  return {
    acknowledged,
    refusals,
    /** Ends the loops after their requests in flight. */
    async stop() {
      running = false
      await all
    },
  }
}

// Returns the status of the answer; null if the connection broke, so the outcome is unknown.
async function send(node, database, ids, version, padding) {
  const document = { version, text: "rook".repeat(padding / 4), "@metadata": { "@collection": "Writes" } }
  const answer = ids.length === 1
    ? node.request("PUT", `/databases/${database}/docs?id=${ids[0]}`, JSON.stringify(document))
    : node.request("POST", `/databases/${database}/bulk_docs`, JSON.stringify({
      Commands: ids.map(Id => ({ Id, ChangeVector: null, Document: document, Type: "PUT" })),
    }))
  return answer.then(({ status }) => status, () => null)
}

/** Reads every acknowledged document and returns those that are missing or older than acknowledged. */
export async function lost(node, database, acknowledged) {
  const ids = [...acknowledged.keys()]
  const missing = []
  const chunks = Array.from({ length: Math.ceil(ids.length / 50) }, (_, n) => ids.slice(n * 50, n * 50 + 50))
  await Promise.all(chunks.map(async chunk => {
    const { Results } = await node.expect(200, "POST", `/databases/${database}/docs`, JSON.stringify({ Ids: chunk }))
    chunk.forEach((id, n) => {
      if (!(Results[n]?.version >= acknowledged.get(id))) {
        missing.push(`${id}: acknowledged ${acknowledged.get(id)}, found ${Results[n]?.version}`)
      }
    })
  }))
  return missing
}
