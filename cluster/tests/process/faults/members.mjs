// Operators' work on members while clients continue: leadership transfer, joining, removal, replacement, a new
// authority.
import { cpSync } from "node:fs"
import { electionSeen } from "../sightings.mjs"
import { aFollower } from "./processes.mjs"

const transfer = {
  name: "leadership transfer",
  isQuiet: true,
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    const tookHold = await electionSeen(cluster)
    await cluster.command("cluster", "node", "transfer", member.name)
    return { what: `to ${member.name}`, tookHold }
  },
}

const joinAndRemove = {
  name: "join and removal",
  isQuiet: true,
  async begin(cluster, chance) {
    const joined = await enter(cluster, cluster.freeName(), await cluster.command("cluster", "token", "create"))
    cluster.members.push(joined)
    await cluster.settled()
    const removed = chance.pick(cluster.members)
    cluster.members.splice(cluster.members.indexOf(removed), 1)
    await cluster.command("cluster", "node", "rm", removed.name, "--yes")
    await cluster.waitUntil("three members vote", () => cluster.hasVoters(3))
    await cluster.kill(removed)
    return { what: `${joined.name} joined, ${removed.name} was removed`, mayFail: failure => failure.name === removed.name }
  },
}

/** Adds a new node with an empty card and waits until it has all data; clients use it from then on. */
async function enter(cluster, name, token) {
  const member = await cluster.prepare(name)
  await cluster.join(member, token.trim())
  await cluster.takesWrites(member)
  return member
}

/** Kills a node whose card died, and replaces it by one with an empty card and the same name. */
const replacement = {
  name: "replacement",
  async begin(cluster, chance) {
    const dead = chance.pick(cluster.members)
    await cluster.kill(dead)
    const place = cluster.members.indexOf(dead)
    cluster.members.splice(place, 1)
    await cluster.leader()
    const token = await cluster.command("cluster", "node", "replace", dead.name, "--yes")
    cluster.members.splice(place, 0, await enter(cluster, dead.name, token))
    await cluster.waitUntil("three members vote", () => cluster.hasVoters(3))
    return { what: `of ${dead.name}` }
  },
}

/**
 * Copies the card of a running member and starts the copy elsewhere, several times, so that it has a higher start
 * number than the original. The cluster must refuse the copy for good, and the original must continue to serve.
 */
const copiedCard = {
  name: "copied card",
  excuses: ["copy"],
  isQuiet: true,
  async begin(cluster, chance) {
    const original = chance.pick(cluster.members)
    const copy = await cluster.prepare(`${original.name}-copy`)
    cpSync(original.data, copy.data, { recursive: true })
    for (let start = 0; start < 3; start++) {
      await cluster.start(copy)
      await cluster.waitUntil("the copy says that it was refused for good", () => /The cluster refused this node's data for good/.test(copy.node.log))
      await cluster.kill(copy)
    }

    return { what: `of ${original.name}` }
  },
}

/** Clients trust the old authority until it is retired, and then both, because members stop using the old one within seconds of each other. */
const rotation = {
  name: "change of the authority",
  isQuiet: true,
  async begin(cluster) {
    await cluster.command("cluster", "ca", "rotate")
    await cluster.waitUntil("all members show certificates of the new authority", async () => (await cluster.command("cluster", "ca", "show")).includes("Members use certificates of the new authority with each other"))
    cluster.trustAgain()
    await cluster.command("cluster", "ca", "retire")
    await cluster.waitUntil("the old authority is gone", async () => JSON.parse(await cluster.command("cluster", "ca", "show", "--json")).Authorities.length === 1)
    return { what: "rotated and retired" }
  },
}

export const memberFaults = [transfer, joinAndRemove, replacement, copiedCard, rotation]
