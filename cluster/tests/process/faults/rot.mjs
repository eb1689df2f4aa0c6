// Flipped bits on cards: no wrong answer, no acknowledged write is lost, and other members repair everything.
import { statSync } from "node:fs"
import { join } from "node:path"
import { wrongBase } from "../base-documents.mjs"
import { FilesBefore, filesOf, rot } from "../cards.mjs"
import { pause } from "../namespaced-cluster.mjs"
import { aFollower } from "./processes.mjs"

const excuses = ["rot"]

const segments = member => filesOf(join(member.data, "journal"), /^journal-.*\.segment$/)
const runs = member => filesOf(join(member.data, "storage"), /\.run$/)
const nameOf = file => file.split("/").at(-1)

/** Flips bits that a stopped member has written to its journal since `before`, except at the beginnings of files: without those it would have to join again. */
function rotWritten(member, before, chance) {
  const headerBytes = 4096
  const file = segments(member).sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0]
  const { first, end } = before.changed(file)
  const from = Math.max(headerBytes, first)
  const offsets = rot(file, chance, { first: from, end: Math.max(from + 1, end), places: 2 })
  return `${nameOf(file)} at ${offsets.join(", ")} (of ${from} to ${end})`
}

const journalRepaired = member => () => /The leader sent again what this node's disk had lost of its journal/.test(member.node.log)
const runRepaired = (cluster, member) => async () => await cluster.metric(member, 'rookery_state_received_bytes_total{kind="repairs"}') > 0

const inRun = {
  name: "rot in a run",
  excuses,
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    await cluster.terminate(member)
    const [file] = runs(member)
    const offsets = rot(file, chance)
    return { what: `of ${member.name}, ${nameOf(file)} at ${offsets.join(", ")}`, end: () => startAndRead(cluster, member), tookHold: runRepaired(cluster, member) }
  },
}

const inRunOfLiveMember = {
  name: "rot in a run of a live member",
  excuses,
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    const [file] = runs(member)
    const offsets = rot(file, chance)
    return { what: `of ${member.name}, ${nameOf(file)} at ${offsets.join(", ")}`, end: () => readAll(cluster, member), tookHold: runRepaired(cluster, member) }
  },
}

const inJournal = {
  name: "rot in the journal",
  excuses,
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    const before = new FilesBefore(segments(member))
    await pause(chance.between(200, 1_000))
    await cluster.terminate(member)
    return { what: `of ${member.name}, ${rotWritten(member, before, chance)}`, end: () => startAndRead(cluster, member), tookHold: journalRepaired(member) }
  },
}

/** With one member off, only the leader and one other member have the acknowledged entries. The other member's journal is damaged, the leader is stopped and the first member returns: neither running member may become leader before the old leader returns. */
const thenElected = {
  name: "rot while the others change",
  excuses,
  async begin(cluster, chance) {
    const leader = await cluster.leader()
    const [damaged, away] = chance.shuffle(cluster.members.filter(member => member !== leader))
    await cluster.kill(away)
    const before = new FilesBefore(segments(damaged))
    await pause(chance.between(500, 2_000))
    await Promise.all([cluster.kill(damaged), cluster.kill(leader)])
    const what = `of ${damaged.name}, ${rotWritten(damaged, before, chance)}, without ${away.name}, then without ${leader.name}`
    await Promise.all([cluster.start(damaged), cluster.start(away)])
    return {
      what,
      async end() {
        await cluster.start(leader)
        await readAll(cluster, damaged)
      },
      tookHold: journalRepaired(damaged),
    }
  },
}

async function startAndRead(cluster, member) {
  await cluster.start(member)
  await readAll(cluster, member)
}

/** Waits until everything in the node's runs can be read, and checks the content. */
function readAll(cluster, member) {
  return cluster.waitUntil(`${member.name} has its lost data again`, async () => {
    const wrongIds = await wrongBase(member.node, "chaos").catch(() => null)
    if (wrongIds?.length > 0) {
      throw new Error(`${member.name} answers with wrong documents: ${wrongIds.slice(0, 5).join(", ")}`)
    }

    return wrongIds !== null
  })
}

export const rotFaults = [inRun, inJournal, inRunOfLiveMember, thenElected]
