import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist")
const MostBytes = 60 * 1024

/** The files that `#/` loads: those that index.html names, which include the overview, and then the chunks and styles of its charts. */
function filesOfFirstScreen(): Set<string> {
  const page = read("index.html")
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, name]) => name ?? "")
  const files = new Set(["index.html", ...named])
  const code = named
    .filter((name) => name.endsWith(".js"))
    .map(read)
    .join("\n")
  const charts = chunksOf("Charts", code)
  expect(
    charts.some((name) => name.startsWith("assets/charts-")),
    `${charts} are not the files of the charts`,
  ).toBe(true)
  for (const name of charts) files.add(name)
  return files
}

/** The files that Vite fetches together for the chunk that exports this: `import("./it.js")…__vite__mapDeps([0,1])`, with the names in a list. */
function chunksOf(part: string, code: string): string[] {
  const call = new RegExp(`\\{${part}:\\w+\\}=await import\\([^)]*\\).*?__vite__mapDeps\\(\\[([\\d,]*)\\]\\)`, "s").exec(code)
  const list = /m\.f=\[([^\]]*)\]/.exec(code)
  expect(call && list, `Vite writes the import of ${part} in another form now: adapt this test`).toBeTruthy()
  const names = (list?.[1] ?? "").split(",").map((name) => name.replaceAll('"', ""))
  return (call?.[1] ?? "").split(",").map((at) => names[Number(at)] ?? "")
}

const read = (name: string) => readFileSync(join(dist, name), "utf8")

test.runIf(existsSync(join(dist, "index.html.br")))("The compressed files of the first screen have 60 KiB at most", () => {
  const files = [...filesOfFirstScreen()]
  const sizes = files.map((name) => statSync(join(dist, `${name}.br`)).size)
  console.log(files.map((name, at) => `${name} ${sizes[at]}`).join("\n"))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MostBytes)
})
