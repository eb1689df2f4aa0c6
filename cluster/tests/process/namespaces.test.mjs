// What a killed test leaves must not fail the tests of the next run.
import { execFileSync } from "node:child_process"
import { test } from "node:test"
import { removeNamespace, whyNoNamespaces } from "./namespaces.mjs"

test("A network namespace that another test has removed meanwhile is no failure", { skip: whyNoNamespaces(), timeout: 60_000 }, async () => {
  const name = `rk${process.pid}-1`
  execFileSync("ip", ["netns", "add", name])
  await removeNamespace(name)
  await removeNamespace(name)
})
