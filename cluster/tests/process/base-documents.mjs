// Documents that are never written again, so many that they are in the runs of every node: wrong bytes in a run are
// wrong bytes in an answer.
import { createCipheriv } from "node:crypto"

export const baseDocuments = 1_500 // 24 MB, more than a memtable takes
const batch = 50

export async function storeBase(cluster, database) {
  for (let first = 0; first < baseDocuments; first += batch) {
    const Commands = Array.from({ length: batch }, (_, n) => ({ Id: `base/${first + n}`, ChangeVector: null, Type: "PUT", Document: { text: baseText(first + n) } }))
    await cluster.nodes[first % 3].expect(201, "POST", `/databases/${database}/bulk_docs`, JSON.stringify({ Commands }))
  }
}

/** Reads all base documents at a node. Returns the ids of those that are missing or wrong. When reads were refused, it throws, but reads all other documents before, because only reading finds a damaged place. */
export async function wrongBase(node, database) {
  const wrongIds = []
  let refused
  for (let first = 0; first < baseDocuments; first += batch) {
    const Ids = Array.from({ length: batch }, (_, n) => `base/${first + n}`)
    const { status, text } = await node.request("POST", `/databases/${database}/docs`, JSON.stringify({ Ids }))
    if (status !== 200) {
      refused = new Error(`base/${first} and the next were answered with ${status}: ${text.slice(0, 300)}`)
      continue
    }

    const { Results } = JSON.parse(text)
    wrongIds.push(...Ids.filter((_, n) => Results[n]?.text !== baseText(first + n)))
  }

  if (refused && wrongIds.length === 0) {
    throw refused
  }

  return wrongIds
}

/** Text that cannot be compressed. */
export function baseText(number) {
  const key = Buffer.alloc(16)
  key.writeUInt32LE(number)
  return createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(12 << 10)).toString("base64")
}
