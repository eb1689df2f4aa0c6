// Faults of cards: slow, full, read-only.
import { whyNotSlow } from "../cards.mjs"
import { cardMissed } from "../sightings.mjs"
import { aFollower, theLeader } from "./processes.mjs"

const slowCards = (name, choose) => ({
  name,
  why: whyNotSlow,
  isQuiet: choose === aFollower,
  mayMeetClusterFault: true,
  async begin(cluster, chance) {
    const slowed = [await choose(cluster, chance)].flat()
    const operations = chance.pick([10, 30, 100])
    slowed.forEach(({ card }) => card.slow(operations))
    return {
      what: `of ${slowed.map(member => member.name).join(", ")}, ${operations} writes/s`,
      end: () => slowed.forEach(({ card }) => card.slow(0)),
      takesHold: async () => await cluster.metric(slowed[0], 'rookery_io_recent_seconds{kind="journal_sync",quantile="0.999"}') > 0.5 / operations,
      mayFail: failure => slowed.some(({ name }) => name === failure.name),
    }
  },
})

/** Below its reserve a node refuses writes that grow the data; with no byte free its journal stops it. */
const fullCard = (name, choose, freeBytes) => ({
  name,
  excuses: ["failing"],
  isQuiet: choose === aFollower,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    member.card.fill(freeBytes)
    return {
      mayFail: failure => failure.name === member.name,
      what: `of ${member.name}, ${freeBytes >> 20} MiB left`,
      takesHold: () => cardMissed(cluster, member),
      async end() {
        member.card.giveBack()
        await restartIfHalted(cluster, member)
      },
    }
  },
})

/** The file system becomes read-only, as after an error; it is checked and mounted again. */
const brokenCard = {
  name: "card read-only",
  excuses: ["failing"],
  isQuiet: true,
  async begin(cluster, chance) {
    const member = await aFollower(cluster, chance)
    member.card.breakNow()
    return {
      what: `of ${member.name}`,
      takesHold: () => cardMissed(cluster, member),
      mayFail: failure => failure.name === member.name,
      async end() {
        await cluster.kill(member)
        member.card.repair()
        await cluster.start(member)
      },
    }
  },
}

/** Restarts a node whose journal found no space. A node that stopped for another reason is a failure of the test. */
async function restartIfHalted(cluster, member) {
  let halted
  await cluster.waitUntil(`${member.name} serves, or says that its card was full`, async () => {
    const answer = await member.node.request("GET", "/readyz", undefined, { timeout: 2_000 }).catch(() => null)
    halted = answer?.status === 503 && /no space is left/i.test(answer.text)
    return halted || answer?.status === 200
  })
  if (halted) {
    await cluster.kill(member)
    await cluster.start(member)
  }
}

export const diskFaults = [
  slowCards("leader's card slow", theLeader),
  slowCards("follower's card slow", aFollower),
  slowCards("all cards slow", cluster => cluster.members),
  fullCard("leader's card nearly full", theLeader, 32 << 20),
  fullCard("follower's card full", aFollower, 0),
  brokenCard,
]
