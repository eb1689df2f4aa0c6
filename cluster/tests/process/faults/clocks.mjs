// Faults of wall clocks: no acknowledgement may depend on them, and nothing may expire because one is wrong.
import { whyNoClocks } from "../../../../server/tests/process/faked-clock.mjs"
import { pause } from "../namespaced-cluster.mjs"
import { aFollower, theLeader } from "./processes.mjs"

// libfaketime reads its offset once a second.
const clockDelayMilliseconds = 1_200
const noticedSeconds = 30

// Nodes look for expired documents once a minute, by a clock that no fault changes.
const twoRoundsMilliseconds = 125_000

const jump = (name, choose, offsets, lastsMilliseconds) => ({
  name,
  why: whyNoClocks,
  mayMeetClusterFault: true,
  lastsMilliseconds,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    const offset = chance.pick(offsets)
    await storeExpiring(await cluster.leader())
    member.clock.set(offset)
    return {
      what: `of ${member.name} by ${offset}`,
      takesHold: async () => Math.abs(await cluster.metric(member, "rookery_clock_ahead_seconds")) > noticedSeconds,
      async end() {
        member.clock.set("+0")
        await pause(clockDelayMilliseconds)
        // Ask the node that answers first: the cluster may be without a leader for a moment.
        await cluster.waitUntil("the document that expires in an hour is read", () => isThere(cluster.nodes[0]))
      },
    }
  },
})

async function isThere(node) {
  const { status, text } = await node.request("GET", "/databases/chaos/docs?id=expires", undefined, { timeout: 5_000 }).catch(() => ({ status: 0 }))
  if (status === 404) {
    throw new Error(`a document expired because a clock was wrong: ${text}`)
  }

  return status === 200
}

/** Stores a document that a clock an hour ahead must not delete. */
function storeExpiring({ node }) {
  const expires = new Date(Date.now() + 50 * 60_000).toISOString()
  return node.expect(201, "PUT", "/databases/chaos/docs?id=expires", JSON.stringify({ "@metadata": { "@expires": expires } }))
}

export const clockFaults = [
  jump("leader's clock ahead", theLeader, ["+1h", "+400d", "+19000d"], twoRoundsMilliseconds),
  jump("leader's clock behind", theLeader, ["-1h", "-400d", "-20000d"]),
  jump("follower's clock jumps", aFollower, ["+400d", "-20000d", "+90s", "-90s"]),
]
