// A member that stops: its readers, and the next leader.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ThreeNodes } from "./three-nodes.mjs"

test("A feed ends before leadership is transferred, even without a successor", { timeout: 180_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("quiet")
  await cluster.settled("quiet")
  const leading = await cluster.leader()
  const leader = cluster.nodes[leading]
  const others = cluster.nodes.filter(node => node !== leader)
  const feed = await fetch(`${leader.url}/databases/quiet/changes/stream?consistency=local`)
  assert.equal(feed.status, 200)
  others.forEach(node => node.child.kill("SIGSTOP"))
  try {
    leader.child.kill("SIGTERM")
    await assert.rejects(feed.text())

    // The port stays open while the others may have to be referred to the next leader.
    assert.equal((await leader.request("GET", "/livez")).status, 200, leader.log)
    const { status, text } = await leader.request("GET", "/databases/quiet/docs?id=a")
    assert.equal(status, 503)
    assert.match(text, /The node is stopping/)
  } finally {
    others.forEach(node => node.child.kill("SIGCONT"))
  }

  assert.equal(await leader.ended, 0, leader.log)
})

test("SIGQUIT stops a member too", { timeout: 180_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  cluster.nodes[1].child.kill("SIGQUIT")
  assert.equal(await cluster.nodes[1].ended, 0, cluster.nodes[1].log)
})
