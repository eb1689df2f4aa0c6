// check.mjs URL ACKNOWLEDGED CUT: checks that every write that was acknowledged before log entry CUT is there, in that
// version or a later one.
import { readFileSync } from 'node:fs'

const [url, acknowledgedPath, cut] = process.argv.slice(2)
const expected = new Map()
let count = 0
for (const [id, version, entries] of JSON.parse(readFileSync(acknowledgedPath, 'utf8'))) {
  if (entries >= Number(cut)) continue
  expected.set(id, Math.max(version, expected.get(id) ?? 0))
  count++
}
const found = new Map()
let last = ''
for (;;) {
  const page = await fetch(`${url}/docs?startsWith=w&pageSize=1024&startAfter=${encodeURIComponent(last)}`)
  if (!page.ok) throw new Error(`reading back: ${page.status} ${await page.text()}`)
  const { Results: results } = await page.json()
  if (results.length === 0) break
  for (const document of results) found.set(document['@metadata']['@id'], document)
  last = results.at(-1)['@metadata']['@id']
}
let lost = 0
for (const [id, version] of expected) {
  const document = found.get(id)
  if (document === undefined || document.version < version) {
    if (lost++ < 5) console.error(`LOST ${id}: acknowledged version ${version}, found ${document?.version ?? 'nothing'}`)
  } else if (document.text !== 'rook'.repeat(200)) {
    if (lost++ < 5) console.error(`WRONG ${id}: text differs`)
  }
}
console.log(`${count} acknowledged writes of ${expected.size} documents: ${lost === 0 ? 'all there' : `${lost} lost`}`)
process.exit(lost === 0 ? 0 : 1)
