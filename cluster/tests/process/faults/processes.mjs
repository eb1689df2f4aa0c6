// What happens to processes: killed, stopped where they stand, stopped as they should be.
import assert from "node:assert/strict"
import { pause } from "../namespaced-cluster.mjs"

/** One power strip: all at once, and all come back, in any order. */
export const powerStrip = {
  name: "power strip",
  async begin(cluster, chance) {
    await Promise.all(cluster.members.map(member => cluster.kill(member)))
    return {
      what: "all killed at once",
      end: () => Promise.all(cluster.members.map(async member => {
        await pause(chance.between(0, 500))
        await cluster.start(member)
      })),
    }
  },
}

const killOne = (name, choose) => ({
  name,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    await cluster.kill(member)
    return { what: `kill -9 of ${member.name}`, end: () => cluster.start(member) }
  },
})

const stopOne = (name, choose) => ({
  name,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    await cluster.freeze(member)
    return { what: `SIGSTOP of ${member.name}`, end: () => cluster.thaw(member) }
  },
})

export const theLeader = cluster => cluster.leader()
export const aFollower = async (cluster, chance) => chance.pick(await cluster.followers())
export const anybody = (cluster, chance) => chance.pick(cluster.members)

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
      const code = await cluster.terminate(member)
      assert.equal(code, 0, `${member.name} ended with ${code} after SIGTERM`)
      await pause(300)
      await cluster.start(member)
      await cluster.settled()
      restarted.push({ name: member.name, since, until: performance.now() })
    }

    return { what: order.map(({ name }) => name).join(", "), mayFail: failure => restarted.some(({ name, since, until }) => failure.name === name && failure.completed >= since && failure.invoked <= until) }
  },
}

export const processFaults = [
  powerStrip,
  killOne("leader killed", theLeader),
  killOne("follower killed", aFollower),
  killTwo,
  stopOne("leader stopped", theLeader),
  stopOne("follower stopped", aFollower),
  restartInTurn,
]
