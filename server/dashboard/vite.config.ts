import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants } from "node:zlib"
import preact from "@preact/preset-vite"
import { defineConfig } from "vitest/config"

// `npm run dev` serves the page from its sources and passes everything else to a node: ROOKERY=https://pi-1.local npm run dev.
const node = process.env.ROOKERY ?? "http://127.0.0.1:8080"
const routes = [
  "/session",
  "/dashboard",
  "/databases",
  "/admin",
  "/debug",
  "/readyz",
  "/metrics",
  "/help",
  "/topology",
  "/cluster",
  "/build",
]

// The executable contains only the compressed form of each file. Brotli's best level costs a Pi nothing, because the build
// compresses.
function compressed() {
  return {
    name: "compressed",
    closeBundle() {
      for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || entry.name.endsWith(".br")) continue
        const path = join(entry.parentPath, entry.name)
        const content = readFileSync(path)
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(content, {
            params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
          }),
        )
      }
    },
  }
}

export default defineConfig({
  plugins: [preact(), compressed()],
  build: {
    target: "es2022",
    outDir: "dist",
    // The polyfill is an inline script, which the page's content security policy forbids.
    modulePreload: { polyfill: false },
    // Nothing is inlined as data, because browsers cache files whose names have hashes for ever.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(routes.map((path) => [path, { target: node, changeOrigin: true, secure: false, headers: { origin: node } }])),
  },
  // Beside other tests on a busy machine, the longest tests exceeded the default of five seconds.
  test: { include: ["tests/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
})
