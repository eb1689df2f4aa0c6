// What happens to the network between nodes. Clients reach all of them all the time, also those that are cut off.
import { aFollower, anybody, theLeader } from "./processes.mjs"

const others = (cluster, member) => cluster.members.filter(other => other !== member)

/** A fault that loses packets: `lost` names who is not heard by whom, and how many of a hundred packets. */
const cuts = (name, choose, lost) => ({
  name,
  mayBeHitByPowerStrip: true,
  async begin(cluster, chance) {
    const member = await choose(cluster, chance)
    for (const [from, to, percent] of lost(cluster, member, chance)) {
      await cluster.network.cut(from, to, percent)
    }

    return { what: `of ${member.name}`, end: () => cluster.network.heal() }
  },
})

const outgoing = (cluster, member) => others(cluster, member).map(other => [member, other])
const incoming = (cluster, member) => others(cluster, member).map(other => [other, member])
const both = (cluster, member) => [...outgoing(cluster, member), ...incoming(cluster, member)]
const withPercent = (pairs, percent) => pairs.map(([from, to]) => [from, to, percent])

function bridge(cluster, member, chance) {
  const other = chance.pick(others(cluster, member))
  return [[member, other], [other, member]]
}

const slowLink = {
  name: "slow link",
  mayBeHitByPowerStrip: true,
  async begin(cluster, chance) {
    const member = anybody(cluster, chance)
    const kilobits = chance.pick([256, 512, 1024])
    await cluster.network.slow(member, kilobits)
    return { what: `of ${member.name}, ${kilobits} kbit/s`, end: () => cluster.network.unslow(member) }
  },
}

export const networkFaults = [
  cuts("leader isolated", theLeader, both),
  cuts("follower isolated", aFollower, both),
  cuts("all split", anybody, cluster => cluster.members.flatMap(member => outgoing(cluster, member))),
  cuts("leader not heard", theLeader, outgoing),
  cuts("leader deaf", theLeader, incoming),
  cuts("follower not heard", aFollower, outgoing),
  cuts("follower deaf", aFollower, incoming),
  cuts("bridge", theLeader, bridge),
  cuts("lossy link", anybody, (cluster, member, chance) => withPercent(both(cluster, member), chance.pick([10, 20, 40]))),
  slowLink,
]
