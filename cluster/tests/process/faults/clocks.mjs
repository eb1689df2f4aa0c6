// What happens to wall clocks: nothing that is acknowledged may hang on them, and nothing may expire because one is wrong.
import assert from "node:assert/strict"
import { whyNoClocks } from "../../../../server/tests/process/faked-clock.mjs"
import { pause } from "../namespaced-cluster.mjs"
import { aFollower, theLeader } from "./processes.mjs"

// libfaketime looks for another offset once a second.
const clockDelayMilliseconds = 1_200

const jump = (name, choose, offsets) => ({
  name,
  why: whyNoClocks,
  mayBeHitByPowerStrip: true,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    const offset = chance.pick(offsets)
    member.clock.set(offset)
    return {
      what: `of ${member.name} by ${offset}`,
      async end() {
        member.clock.set("+0")
        await pause(clockDelayMilliseconds)
        const { status } = await cluster.nodes[0].request("GET", "/databases/chaos/docs?id=expires")
        assert.notEqual(status, 404, "a document expired because a clock was wrong")
      },
    }
  },
})

/** Stores what a clock in the future must not delete. */
export function storeExpiring(node, database) {
  const expires = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString()
  return node.expect(201, "PUT", `/databases/${database}/docs?id=expires`, JSON.stringify({ "@metadata": { "@expires": expires } }))
}

export const clockFaults = [
  jump("leader's clock ahead", theLeader, ["+1h", "+400d", "+19000d"]),
  jump("leader's clock behind", theLeader, ["-1h", "-400d", "-20000d"]),
  jump("follower's clock jumps", aFollower, ["+400d", "-20000d", "+90s", "-90s"]),
]
