import { expect, test } from "vitest"
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

test("Lines become one array, in pieces of any size, with all digits", async () => {
  const lines = '{"n":12345678901234567890.50}\n{"s":"a, b"}\n'
  for (const step of [1, 3, 29, 30, 100]) {
    expect(await arrayOf(lines, step), `${step}`).toBe('[\n{"n":12345678901234567890.50},\n{"s":"a, b"}\n]\n')
  }

  expect(JSON.parse(await arrayOf("", 1))).toEqual([])
})

test("Groups without an id and documents become CSV", () => {
  expect(csvOfLines('{"Company":"a, b","Count":2,"@metadata":{"@projection":true}}\n')).toBe('Company,Count\r\n"a, b",2\r\n')
  expect(csvOfLines("")).toBe("\r\n")
})
