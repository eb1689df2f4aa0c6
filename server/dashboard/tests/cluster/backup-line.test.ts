import { expect, test } from "vitest"
import { backupLine } from "../../src/cluster/backup-line"

const now = new Date(2026, 10, 25, 12)

test("The backup command names the files that a node needs, and none for a node with plain HTTP", () => {
  expect(backupLine(now, { url: "http://127.0.0.1:8080", needsToken: false, isSecure: false })).toBe(
    "rookery backup --to 2026-11-25 --url http://127.0.0.1:8080",
  )
  expect(backupLine(now, { url: "https://pi-1.local", needsToken: true, isSecure: true })).toBe(
    "rookery backup --to 2026-11-25 --url https://pi-1.local --ca authority.pem --token-file admin.token",
  )
})
