// Faults of processes: killed, paused, stopped cleanly.
import { pause } from "../namespaced-cluster.mjs"
import { electionSeen, someoneMissed } from "../sightings.mjs"

/** Starts all nodes, in any order. */
const startAll = (cluster, chance, repair = () => {}) => Promise.all(cluster.members.map(async member => {
  repair(member)
  await pause(chance.between(0, 500))
  await cluster.start(member)
}))

/** Kills all processes at once; their kernels keep what they wrote, synced or not. */
export const allKilled = {
  name: "all killed",
  lastsMilliseconds: 0,
  async begin(cluster, chance) {
    await Promise.all(cluster.members.map(member => cluster.kill(member)))
    return { what: "at once", end: () => startAll(cluster, chance) }
  },
}

/** Cuts the power of all machines: all cards lose unsynced data, and all nodes end. */
export const powerStrip = {
  name: "power strip",
  lastsMilliseconds: 0,
  excuses: ["failing"],
  async begin(cluster, chance) {
    cluster.members.forEach(({ card }) => card.breakNow())
    await Promise.all(cluster.members.map(member => cluster.kill(member)))
    return { what: "of all", end: () => startAll(cluster, chance, ({ card }) => card.repair()) }
  },
}

export const theLeader = cluster => cluster.leader()
export const aFollower = async (cluster, chance) => chance.pick(await cluster.followers())
export const anybody = (cluster, chance) => chance.pick(cluster.members)

/**
 * A fault of one member. On the leader it causes an election; on a follower only the leader and that follower's clients notice it.
 * @param choose Returns the member: `theLeader`, `aFollower` or `anybody`.
 * @param what How the report begins, before the member's name.
 * @param begin Begins the fault of a member, and returns the function that ends it.
 */
export const faultOf = (name, choose, what, begin) => ({
  name,
  isQuiet: choose === aFollower,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    const tookHold = choose === theLeader ? await electionSeen(cluster) : undefined
    const takesHold = choose === aFollower ? () => someoneMissed(cluster) : undefined
    const end = await begin(cluster, member, chance)
    return { what: `${what}${member.name}`, end, takesHold, tookHold, mayFail: failure => failure.name === member.name }
  },
})

const killOne = (name, choose) => faultOf(name, choose, "kill -9 of ", async (cluster, member) => {
  await cluster.kill(member)
  return () => cluster.start(member)
})

const stopOne = (name, choose) => faultOf(name, choose, "SIGSTOP of ", async (cluster, member) => {
  await cluster.freeze(member)
  return () => cluster.thaw(member)
})

const killTwo = {
  name: "a majority killed",
  async begin(cluster, chance) {
    const killed = chance.shuffle(cluster.members).slice(0, 2)
    await Promise.all(killed.map(member => cluster.kill(member)))
    return { what: `kill -9 of ${killed.map(({ name }) => name).join(" and ")}`, end: () => Promise.all(killed.map(member => cluster.start(member))) }
  },
}

const restartInTurn = {
  name: "rolling restart",
  isQuiet: true,
  async begin(cluster, chance) {
    const order = chance.shuffle(cluster.members)
    const restarted = []
    for (const member of order) {
      const since = performance.now()
      await cluster.terminate(member)
      await pause(300)
      await cluster.start(member)
      await cluster.settled()
      restarted.push({ name: member.name, since, until: performance.now() })
    }

    return { what: order.map(({ name }) => name).join(", "), mayFail: failure => restarted.some(({ name, since, until }) => failure.name === name && failure.completed >= since && failure.invoked <= until) }
  },
}

export const processFaults = [
  allKilled,
  powerStrip,
  killOne("leader killed", theLeader),
  killOne("follower killed", aFollower),
  killTwo,
  stopOne("leader stopped", theLeader),
  stopOne("follower stopped", aFollower),
  restartInTurn,
]
