// The cases that `rookery doctor` distinguishes in a network: a router, peers that are off, and peers with
// a firewall.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { runWithin, temporaryDirectory, until } from "../../../server/tests/process/node-process.mjs"
import { NamespacedCluster } from "./namespaced-cluster.mjs"
import { Network, whyNoNamespaces } from "./namespaces.mjs"

test("The doctor distinguishes an answering router, a dropped peer, a firewall and a missing router", { skip: whyNoNamespaces(), timeout: 240_000 }, async t => {
  const network = await Network.create(t)
  const [here, open, firewalled, dropped] = [await network.addHost(), await network.addHost(), await network.addHost(), await network.addHost()]
  await network.cut(here, dropped)
  await network.cut(dropped, here)
  execFileSync(firewalled.within[0], [...firewalled.within.slice(1), "nft", "add table inet shut; add chain inet shut in { type filter hook input priority 0; }; add rule inet shut in meta l4proto tcp drop"])
  const ip = (...words) => execFileSync("ip", ["-n", here.namespace, ...words])
  const [router, nobody] = [1, 2].map(host => here.address.replace(/\d+$/, host))

  const tools = temporaryDirectory(t)
  const examine = async (...hosts) => {
    const lines = hosts.map(host => `echo '=;eth0;IPv4;${host.namespace};_rookery._tcp;local;pi.local;${host.address};443;"node=${host.namespace}"'`)
    writeFileSync(join(tools, "avahi-browse"), ["#!/bin/sh", ...lines].join("\n") + "\n")
    chmodSync(join(tools, "avahi-browse"), 0o755)
    const { stdout, stderr } = await runWithin([...here.within, "env", `PATH=${tools}:${process.env.PATH}`], "doctor", "--url", "http://127.0.0.1:1", "--json")
    assert.equal(stderr, "")
    const { Sentence, Fix, Severity } = JSON.parse(stdout).Findings.find(finding => finding.Subject === "network")
    return `${Severity}: ${Sentence} → ${Fix}`
  }

  assert.match(await examine(), /^notice: There is no default gateway, and no other node is known\./)
  ip("route", "add", "default", "via", router)
  assert.equal(await examine(), `ok: The router ${router} answers; no other node is known. → null`)
  assert.equal(await examine(open), "ok: Other nodes that answer: 1 of 1. → null")
  assert.match(await examine(dropped), new RegExp(`^error: The router ${router.replaceAll(".", "\\.")} answers, and none of the other nodes does \\(1 are known\\)\\. → .*AP or client isolation`))
  assert.match(await examine(firewalled, dropped), /^error: None of the other nodes accepts a connection \(2 are known\), although 1 of their machines are on: .* → A firewall/)
  assert.match(await examine(open, firewalled, dropped), /^notice: Other nodes that answer: 1 of 3; 1 more are on/)

  // A router that answered a while ago: its address is in the kernel's table.
  ip("route", "replace", "default", "via", nobody)
  ip("neighbour", "replace", nobody, "lladdr", "02:00:00:00:00:02", "nud", "stale", "dev", "eth0")
  assert.match(await examine(dropped), new RegExp(`^error: Neither the router ${nobody.replaceAll(".", "\\.")} nor any of the other nodes answers \\(1 are known\\)\\.`))

  // A router with IPv6 only is known by an address that belongs to an interface.
  const [{ addr_info: [{ local }] }] = JSON.parse(execFileSync("ip", ["-json", "-6", "address", "show", "dev", here.outside.split(".")[0], "scope", "link"]))
  ip("route", "delete", "default")
  ip("-6", "route", "add", "default", "via", local, "dev", "eth0")
  assert.equal(await examine(), `ok: The router ${local}%eth0 answers; no other node is known. → null`)
})

test("The doctor reports a port that a firewall blocks, and the connections once they exist", { skip: whyNoNamespaces(), timeout: 300_000 }, async t => {
  const cluster = await NamespacedCluster.form(t)
  const member = cluster.members[0]
  const config = join(temporaryDirectory(t), "config.json")
  writeFileSync(config, JSON.stringify({ data: member.data, listen: member.node.url, peerListen: `${member.address}:9443` }))
  const examine = async () => {
    const { stdout } = await runWithin(member.within, "doctor", "--config", config, "--json")
    return JSON.parse(stdout).Findings.filter(({ Subject }) => Subject === "ports").map(({ Severity, Sentence }) => `${Severity}: ${Sentence}`)
  }

  await until(async () => (await examine()).includes("ok: Port 9443, for members, listens; other machines connected to it: 2."))
  execFileSync(member.within[0], [...member.within.slice(1), "nft", "add table inet shut; add chain inet shut in { type filter hook input priority 0; }; add rule inet shut in tcp dport 9443 drop"])
  await until(async () => (await examine()).includes("warning: This node reaches 2 members, but no member is connected to port 9443 here, for members."))
})
