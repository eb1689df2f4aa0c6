// Faults of the network between nodes. Clients reach all nodes all the time, also those that are cut off.
import { someoneMissed } from "../sightings.mjs"
import { aFollower, anybody, faultOf, theLeader } from "./processes.mjs"

const others = (cluster, member) => cluster.members.filter(other => other !== member)
const outgoing = (cluster, member) => others(cluster, member).map(other => [member, other])
const incoming = (cluster, member) => others(cluster, member).map(other => [other, member])
const both = (cluster, member) => [...outgoing(cluster, member), ...incoming(cluster, member)]

/** A fault that loses packets: `lost` returns triples of sender, receiver and the percentage of lost packets. */
const cut = (name, choose, lost) => ({
  mayMeetClusterFault: true,
  ...faultOf(name, choose, "of ", async (cluster, member, chance) => {
    for (const [from, to, percent] of lost(cluster, member, chance)) {
      await cluster.network.cut(from, to, percent)
    }

    return () => cluster.network.heal()
  }),
})

/** The same fault, but `takesHold` tells whether it has an effect. */
const seenBy = (fault, takesHold) => ({
  ...fault,
  async begin(cluster, chance) {
    return { ...await fault.begin(cluster, chance), takesHold: () => takesHold(cluster), tookHold: undefined }
  },
})

/** Cuts the member off from one of the others, so that only the third reaches both. */
function bridge(cluster, member, chance) {
  const other = chance.pick(others(cluster, member))
  return [[member, other], [other, member]]
}

function lossy(cluster, member, chance) {
  const percent = chance.pick([10, 20, 40])
  return both(cluster, member).map(([from, to]) => [from, to, percent])
}

const slowLink = {
  name: "slow link",
  mayMeetClusterFault: true,
  async begin(cluster, chance) {
    const member = anybody(cluster, chance)
    const kilobits = chance.pick([256, 512, 1024])
    await cluster.network.slow(member, kilobits)
    return { what: `of ${member.name}, ${kilobits} kbit/s`, end: () => cluster.network.unslow(member), takesHold: async () => await cluster.network.waited(member) > 0 }
  },
}

export const networkFaults = [
  cut("leader isolated", theLeader, both),
  cut("follower isolated", aFollower, both),
  seenBy(cut("all split", anybody, cluster => cluster.members.flatMap(member => outgoing(cluster, member))), someoneMissed),
  cut("leader not heard", theLeader, outgoing),
  cut("leader deaf", theLeader, incoming),
  cut("follower not heard", aFollower, outgoing),
  cut("follower deaf", aFollower, incoming),
  seenBy(cut("bridge", theLeader, bridge), someoneMissed),
  seenBy(cut("lossy link", anybody, lossy), async cluster => await cluster.network.lost() > 0),
  slowLink,
]
