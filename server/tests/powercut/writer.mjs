// writer.mjs URL LOG ACKNOWLEDGED SECONDS: PUTs and overwrites documents, and for each acknowledged write notes how many
// block-log entries there were by then. A crash image cut after that entry must hold the write (or a later one of the same document).
import { randomBytes } from 'node:crypto'
import { openSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { countEntries, seededRandom } from './block-log.mjs'

const [url, logPath, acknowledgedPath, seconds] = process.argv.slice(2)
const log = openSync(logPath, 'r')
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
const acknowledged = []
const started = new Set()
const end = Date.now() + Number(seconds) * 1000

function put(id, version) {
  // A part of the text repeats, the rest does not: journal frames of both kinds. Enough of it that memtables are flushed and runs compacted meanwhile.
  const body = JSON.stringify({ version, text: 'rook'.repeat(200), noise: randomBytes(9000).toString('base64') })
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/docs?id=${id}`, { method: 'PUT', agent, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } }, (response) => {
      response.resume()
      response.on('end', () => (response.statusCode === 201 ? resolve() : reject(new Error(`PUT ${id}: ${response.statusCode}`))))
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function work(worker) {
  const random = seededRandom(worker + 1)
  for (let version = 1; Date.now() < end; version++) {
    // Every worker owns its documents, so versions of one document are acknowledged in order.
    const id = `w${worker}/${Math.floor(random() * 2000)}`
    const stamped = version * 16 + worker
    started.add(id)
    await put(id, stamped)
    acknowledged.push([id, stamped, countEntries(log)])
  }
}

await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)))
writeFileSync(acknowledgedPath, JSON.stringify(acknowledged))
console.log(`${acknowledged.length} writes of ${started.size} documents acknowledged, ${countEntries(log)} block-log entries`)
agent.destroy()
