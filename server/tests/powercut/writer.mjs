// writer.mjs NODE DATABASE LOG ACKNOWLEDGED SECONDS: stores and overwrites documents. For each acknowledged write it
// records the number of block-log entries so far. A crash image that is cut after that entry must contain the write or
// a later version of the document. It also creates and deletes databases. Each deletion is flushed, so small sorted
// files ("runs") accumulate until they are compacted, and a recording must contain a compaction. On a slow machine it
// continues until then, for a minute at most.
import { randomBytes } from 'node:crypto'
import { openSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { countEntries, seededRandom } from './block-log.mjs'

const [node, database, logPath, acknowledgedPath, seconds] = process.argv.slice(2)
const url = `${node}/databases/${database}`
const log = openSync(logPath, 'r')
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
const acknowledged = []
const started = new Set()
const least = Date.now() + Number(seconds) * 1000
const most = Math.max(least, Date.now() + 60_000)
let hasCompacted = false
const isOver = () => Date.now() > (hasCompacted ? least : most)

function put(id, version) {
  // One part of the text repeats and one does not, so that the journal has compressed and uncompressed frames.
  const body = JSON.stringify({ version, text: 'rook'.repeat(200), noise: randomBytes(3000).toString('base64') })
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
  for (let version = 1; !isOver(); version++) {
    // Every worker owns its documents, so versions of one document are acknowledged in order.
    const id = `w${worker}/${Math.floor(random() * 2000)}`
    const stamped = version * 16 + worker
    started.add(id)
    await put(id, stamped)
    acknowledged.push([id, stamped, countEntries(log)])
    if (Date.now() > least) await new Promise(resolve => setTimeout(resolve, 100)) // Leaves processor time for the compaction that is still missing.
  }
}

async function request(path, method = 'GET', body = undefined) {
  const answer = await fetch(node + path, { method, body, headers: { 'Content-Type': 'application/json' } })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.text()
}

async function churn() {
  for (let number = 0; !isOver(); number++) {
    const name = `brief${number}`
    await request(`/admin/databases?name=${name}`, 'PUT', JSON.stringify({ DatabaseName: name }))
    await request(`/databases/${name}/docs?id=d`, 'PUT', '{}')
    await request('/admin/databases', 'DELETE', JSON.stringify({ DatabaseNames: [name], HardDelete: true }))
    await new Promise(resolve => setTimeout(resolve, 100))
    const compactions = /^rookery_compactions_total (\d+)/m.exec(await request('/metrics'))
    hasCompacted = Number(compactions[1]) > 1
  }
}

await Promise.all([churn(), ...Array.from({ length: 16 }, (_, worker) => work(worker))])
writeFileSync(acknowledgedPath, JSON.stringify(acknowledged))
console.log(`${acknowledged.length} writes of ${started.size} documents acknowledged, ${countEntries(log)} block-log entries`)
agent.destroy()
