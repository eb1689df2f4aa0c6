// The manual as a node serves it: see HelpRoutes.cs.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const docs = join(dirname(fileURLToPath(import.meta.url)), "../../../../docs")

/** The file of all texts, in the format in which Rookery.Server.csproj packs it. */
export function packedManual() {
  const pages = readdirSync(docs, { recursive: true })
    .filter((path) => path.endsWith(".md") || /^reference\/[^/]*\.(txt|json)$/.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(docs, path)) }))
  return Buffer.concat([
    Buffer.from(`${pages.map(({ path, text }) => `${text.length} ${path}\n`).join("")}\n`),
    ...pages.map(({ text }) => text),
  ])
}

/** Answers an address of the manual: with its text, or with the dashboard if a browser opens a page. */
export function answerManual(request, url, send, sendDashboard) {
  const path = decodeURIComponent(url.pathname).replace(/^\/help\/?/, "") || "README.md"
  if (path === "manual.txt") return send(200, packedManual(), { "Content-Type": "text/plain; charset=utf-8" })
  const file = [join(docs, path), join(docs, `${path}.md`)].find((name) => name.startsWith(docs) && existsSync(name))
  if (!file) return send(404, "The manual has no such page; /help lists its pages.\n", { "Content-Type": "text/plain; charset=utf-8" })
  if (file.endsWith(".md") && request.headers.accept?.includes("text/html") && !url.searchParams.has("plain")) return sendDashboard()
  return send(200, readFileSync(file), { "Content-Type": file.endsWith(".webp") ? "image/webp" : "text/plain; charset=utf-8" })
}
