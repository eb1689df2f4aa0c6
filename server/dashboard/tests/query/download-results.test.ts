import { expect, test } from "vitest"
import { gather } from "../../src/documents/export"
import { arrayOfLines, csvOfLines } from "../../src/query/download-results"

async function arrayOf(text: string, step: number): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  const stream = new ReadableStream<Uint8Array>({
    start(control) {
      for (let at = 0; at < bytes.length; at += step) control.enqueue(bytes.slice(at, at + step))
      control.close()
    },
  })
  return new Response(stream.pipeThrough(arrayOfLines())).text()
}

test("Lines become one array with all digits, whatever chunks they arrive in", async () => {
  const lines = '{"n":12345678901234567890.50}\n{"s":"a, b"}\n'
  for (const step of [1, 3, 29, 30, 100]) {
    expect(await arrayOf(lines, step), `${step}`).toBe('[\n{"n":12345678901234567890.50},\n{"s":"a, b"}\n]\n')
  }

  expect(JSON.parse(await arrayOf("", 1))).toEqual([])
})

const signal = new AbortController().signal
const csvOf = async (lines: string) => (await csvOfLines(new Blob([lines]), signal)).text()

test("Results without an id become CSV, and no results an empty first row", async () => {
  expect(await csvOf('{"Company":"a, b","Count":2,"@metadata":{"@projection":true}}\n')).toBe('"Company","Count"\r\n"a, b",2\r\n')
  expect(await csvOf("")).toBe("\r\n")
})

test("The first row names the columns that only later results have", async () => {
  const text = "x".repeat(100_000)
  const lines = Array.from({ length: 5 }, (_, at) => `{"t":"${text}","c${at}":"ä"}\n`).join("")
  const csv = (await csvOf(lines)).split("\r\n")
  expect(csv[0]).toBe('"t","c0","c1","c2","c3","c4"')
  expect(csv[5]).toBe(`${text},,,,,ä`)
})

test("Stop ends the download of a file", async () => {
  const stopped = AbortSignal.abort()
  const unread = new ReadableStream({ pull: () => Promise.reject(new Error("read on")) }, { highWaterMark: 0 })
  await expect(csvOfLines({ stream: () => unread } as Blob, stopped)).rejects.toThrow("aborted")
  await expect(gather(new Blob(["x"]).stream(), "text/plain", stopped)).rejects.toThrow()
})
