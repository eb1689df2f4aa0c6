// What happens to cards: slow, full, read-only, rotten.
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { filesOf, rot, whyNotSlow } from "../cards.mjs"
import { wrongBase } from "../recorded-load.mjs"
import { aFollower, theLeader } from "./processes.mjs"

const headerBytes = 4096

const slowCards = (name, choose) => ({
  name,
  why: whyNotSlow,
  mayBeHitByPowerStrip: true,
  async begin(cluster, chance) {
    const slowed = [await choose(cluster, chance)].flat()
    const operations = chance.pick([10, 30, 100])
    slowed.forEach(({ card }) => card.slow(operations))
    return { what: `of ${slowed.map(member => member.name).join(", ")}, ${operations} writes/s`, end: () => slowed.forEach(({ card }) => card.slow(0)) }
  },
})

/** Below its reserve a node refuses growth; with nothing free at all its journal stops it. */
const fullCard = (name, choose, left) => ({
  name,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    member.card.fill(left)
    return {
      what: `of ${member.name}, ${left >> 20} MiB left`,
      async end() {
        member.card.giveBack()
        await restartIfHalted(cluster, member)
      },
    }
  },
})

/** The file system takes no more writes, as after an error; it is checked and mounted anew. */
const brokenCard = {
  name: "card read-only",
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    member.card.breakNow()
    return {
      what: `of ${member.name}`,
      async end() {
        await cluster.kill(member)
        member.card.repair()
        await cluster.start(member)
      },
    }
  },
}

/** Bits of a file of a stopped follower are turned over. */
const rotWhileOff = (name, choose) => ({
  name,
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    await cluster.terminate(member)
    const { file, ...range } = choose(member.data)
    const offsets = rot(file, chance, range)
    return {
      what: `of ${member.name}, ${file.split("/").at(-1)} at ${offsets.join(", ")}`,
      async end() {
        await cluster.start(member)
        await repaired(cluster, member)
      },
    }
  },
})

const rotWhileOn = {
  name: "rot in a run of a live member",
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    const [file] = filesOf(join(member.data, "storage"), /\.run$/)
    const offsets = rot(file, chance)
    return { what: `of ${member.name}, ${file.split("/").at(-1)} at ${offsets.join(", ")}`, end: () => repaired(cluster, member) }
  },
}

/** Everything that lay in the runs is read at that node, and is right, as soon as it answers. */
function repaired(cluster, member) {
  return cluster.waitUntil(`${member.name} has all that it lost`, async () => {
    const wrong = await wrongBase(member.node, "chaos").catch(() => null)
    if (wrong?.length > 0) {
      throw new Error(`${member.name} answers with wrong documents: ${wrong.slice(0, 5).join(", ")}`)
    }

    return wrong !== null
  })
}

async function restartIfHalted(cluster, member) {
  const halted = await member.node.request("GET", "/readyz", undefined, { timeout: 2_000 }).then(({ status }) => status !== 200, () => true)
  if (halted) {
    await cluster.kill(member)
    await cluster.start(member)
  }
}

/** The frames in the segment that was written last, without its header: that is whole or the node has to join anew. */
function framesOf(journal) {
  const segments = filesOf(journal, /^journal-.*\.segment$/)
  const [file] = segments.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  return { file, first: headerBytes, end: Math.max(headerBytes + 1, readFileSync(file).findLastIndex(byte => byte !== 0)), places: 2 }
}

export const diskFaults = [
  slowCards("leader's card slow", theLeader),
  slowCards("follower's card slow", aFollower),
  slowCards("all cards slow", cluster => cluster.members),
  fullCard("leader's card nearly full", theLeader, 32 << 20),
  fullCard("follower's card full", aFollower, 0),
  brokenCard,
  rotWhileOff("rot in a run", data => ({ file: filesOf(join(data, "storage"), /\.run$/)[0] })),
  rotWhileOff("rot in the journal", data => framesOf(join(data, "journal"))),
  rotWhileOn,
]
