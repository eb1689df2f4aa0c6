import { expect, test } from "vitest"
import { BackupCheck, lackOf } from "../../src/cluster/backup-stream"
import { fileNameOf, readTaken, rememberTaken } from "../../src/cluster/taken-backups"

// Computes CRC-32C bit by bit, independently of the tested code.
function crc(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}

function piece(kind: number, text: string): Uint8Array {
  const body = new TextEncoder().encode(text)
  const bytes = new Uint8Array(9 + body.length)
  const view = new DataView(bytes.buffer)
  bytes[0] = kind
  view.setUint32(1, body.length, true)
  bytes.set(body, 9)
  view.setUint32(5, crc(new Uint8Array([...bytes.subarray(0, 5), ...body])), true)
  return bytes
}

const heading = "rookery backup format 1\ntaken 2026-11-21T16:36:48Z\ndatabase Library\ndatabase Shop\n"
const streamOf = (heading: string) =>
  new Uint8Array([
    ...new TextEncoder().encode("rookery backup stream 1\n"),
    ...piece(1, "frames"),
    ...piece(2, "0123456789"),
    ...piece(2, "abc"),
    ...piece(1, "storage/manifest-0"),
    ...piece(3, heading),
  ])
const whole = streamOf(heading)

function read(bytes: Uint8Array, step: number) {
  const check = new BackupCheck()
  for (let at = 0; at < bytes.length; at += step) check.push(bytes.subarray(at, at + step))
  return check.finish()
}

test("The CRC-32C of the test has the published check value", () => {
  expect(crc(new TextEncoder().encode("123456789"))).toBe(0xe3069283)
})

test("A complete backup is read in chunks of any size", () => {
  const contents = { files: 2, bytes: 13, taken: "2026-11-21T16:36:48Z", databases: ["Library", "Shop"], unreadable: 0 }
  for (const step of [1, 7, 64, whole.length]) expect(read(whole, step)).toEqual(contents)
})

test("Attachments that the node could not read are counted, and the backup is called incomplete", () => {
  const named = "unreadable-content ab12 of 5 bytes\nunreadable-content cd34 of 7 bytes\n"
  const counts = (more: string) => read(streamOf(heading + more), 64).unreadable
  expect(counts("")).toBe(0)
  expect(counts(`unreadable-total 2\n${named}`)).toBe(2)
  expect(counts(`unreadable-total 1500\n${named}`)).toBe(1500)
  expect(counts(`unreadable-total many\n${named}`)).toBe(2)
  expect(lackOf({ unreadable: 0 })).toBe("")
  expect(lackOf({ unreadable: 1500 })).toContain("is incomplete: the node could not read 1,500 contents of attachments")
})

test("A backup that is cut off at any byte is refused", () => {
  for (let end = 0; end < whole.length; end++) expect(() => read(whole.slice(0, end), 16), `${end}`).toThrow()
})

test("A changed bit is detected in every byte", () => {
  for (let at = 0; at < whole.length; at++) {
    const changed = whole.slice()
    changed[at] = (changed[at] ?? 0) ^ 4
    expect(() => read(changed, 16), `byte ${at}`).toThrow()
  }
})

test("Bytes after the end of a backup are detected", () => {
  for (const more of [1, 20]) expect(() => read(new Uint8Array([...whole, ...new Uint8Array(more)]), 16)).toThrow("after its end")
})

test("Each cluster has its own list of backups, and a damaged list is empty", () => {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  }
  const backup = { name: "a", at: 1, bytes: 2, databases: 3 }
  expect(rememberTaken(storage, "home", backup)).toEqual([backup])
  expect([readTaken(storage, "home"), readTaken(storage, "other")]).toEqual([[backup], []])
  stored.set("rookery.backups home", '{"no":"list"}')
  expect(readTaken(storage, "home")).toEqual([])
})

test("A file name contains no characters that a file system forbids", () => {
  expect(fileNameOf("my/home: 1", new Date(2026, 10, 29, 7, 5, 9))).toBe("my-home-1-2026-11-29-070509.rookery-backup")
})
