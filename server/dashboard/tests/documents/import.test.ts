import { expect, test } from "vitest"
import type { CsvOptions } from "../../src/documents/csv"
import { type Statistics, withoutEnvelope } from "../../src/documents/export"
import type { ImportState, PartAnswer } from "../../src/documents/import"
import { documentsOf, importFile, partsOf, readAnswer } from "../../src/documents/import"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A stream of these chunks. */
function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk)
      controller.close()
    },
  })
}

async function parts(stream: ReadableStream<Uint8Array>, size: number, skip = 0) {
  const found: [string, number][] = []
  for await (const part of partsOf(stream, () => size, skip))
    found.push([part.chunks.map((chunk) => decoder.decode(chunk)).join(""), part.lines])
  return found
}

/** The documents in a file of these chunks, as lines. */
async function lines(...chunks: (string | Uint8Array)[]) {
  const { stream, place } = await documentsOf(streamOf(...chunks))
  return { text: await new Response(stream).text(), place }
}

test("JSON of each form becomes one document per line, wherever the chunks of the file end", async () => {
  const document = '{"a":"}]\\\"[,","b":[1,{"c":[]}],"ü":"\u2028"}'
  const value = JSON.parse(document)
  const forms: [string, "line" | "document", unknown[]][] = [
    [`${document}\n${document}\n`, "line", [value, value]],
    [`[${document},\n ${document}\r\n]`, "document", [value, value]],
    [`${document}${document}\n${document}`, "document", [value, value, value]],
    [`{\n  "a": 1\n}\n{\n  "b": {}\n}\n`, "document", [{ a: 1 }, { b: {} }]],
    [`[]\n[${document}] ${document} [ ]`, "document", [value, value]],
    [`[1, "x" ,null,${document},[2]]`, "document", [1, "x", null, value, [2]]],
    ["", "line", []],
    [" \n", "line", []],
  ]
  for (const [text, place, values] of forms) {
    const bytes = encoder.encode(text)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const found = await lines(bytes.slice(0, cut), bytes.slice(cut))
      const each = found.text.split("\n").filter((line) => line.trim() !== "")
      expect([found.place, each.map((line) => JSON.parse(line))]).toEqual([place, values])
    }
  }
})

test("An array that is cut off or has wrong text between documents is an error that names the place", async () => {
  await expect(lines('[{"a":1},{"b":2}')).rejects.toThrow("ends after document 2, within its array")
  await expect(lines('[{"a":1},{"b":')).rejects.toThrow("ends within document 2")
  await expect(lines('[{"a":1},]')).rejects.toThrow("At byte 9, after document 1, is ']' where a document must")
  await expect(lines('{"a":1},{"b":2}')).rejects.toThrow("At byte 7, after document 1, is ','")
  await expect(lines('[{"a":1} {"b":2}]')).rejects.toThrow("At byte 9, after document 1, is '{'")
  await expect(lines("[", ...Array.from({ length: 18 }, () => `{"a":${" ".repeat(1 << 20)}`))).rejects.toThrow("16 MiB")
})

test("Complete documents before an error in the file are imported before the error is reported", async () => {
  const faults: [string, string[], string][] = [
    ['[{"a":1},{"b":2}', ['{"a":1}', '{"b":2}'], "ends after document 2, within its array"],
    ['[{"a":1},{"b":', ['{"a":1}'], "ends within document 2"],
    ['[{"a":1},]', ['{"a":1}'], "after document 1, is ']'"],
    ['{"a":1}{"b":2},{"c":3}', ['{"a":1}', '{"b":2}'], "after document 2, is ','"],
  ]
  for (const [text, documents, message] of faults) {
    const posted: string[] = []
    let state: ImportState | undefined
    const post = async (part: Blob) => {
      posted.push(...(await part.text()).trimEnd().split("\n"))
      return refusing(part)
    }
    const keep = (next: ImportState) => {
      state = next
    }
    await expect(importFile(new Blob([text]), post, keep, new AbortController().signal)).rejects.toThrow(message)
    expect(posted).toEqual(documents)
    expect(state).toMatchObject({ lines: documents.length, stored: documents.length })
  }
})

test("Complete lines before a stream breaks off are returned, and the incomplete line is not", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull(control) {
      if (chunks.length === 0) control.error(new Error("torn"))
      else control.enqueue(encoder.encode(chunks.shift()))
    },
  })
  const chunks = ["aa\nb", "bb\ncc", "c"]
  const found: string[] = []
  const read = async () => {
    for await (const part of partsOf(broken, () => 100)) found.push(await new Blob(part.chunks as BlobPart[]).text())
  }
  await expect(read()).rejects.toThrow("torn")
  expect(found).toEqual(["aa\nbbb\n"])
})

// If each chunk were searched again with all chunks before it, this would take more than five minutes.
test("A long first document in small chunks is read once", { timeout: 60_000 }, async () => {
  const chunks = ['{"a":"', ...Array.from({ length: 16_000 }, () => "x".repeat(500)), '"}\n{}']
  expect((await lines(...chunks)).place).toBe("line")
})

test("Parts end at line ends, wherever the chunks of the file do, and count their lines", async () => {
  const text = "aa\nbbb\n\ncccc\nd"
  for (let cut = 1; cut < text.length; cut++) {
    const found = await parts(streamOf(text.slice(0, cut), text.slice(cut)), 4)
    expect(found.map(([part]) => part).join("")).toBe(text)
    expect(found.slice(0, -1).every(([part]) => part.endsWith("\n"))).toBe(true)
    expect(found.reduce((sum, [, lines]) => sum + lines, 0)).toBe(5)
  }
})

test("An import that is continued skips the lines that are done", async () => {
  const text = "aa\nbbb\n\ncccc\nd"
  for (let cut = 1; cut < text.length; cut++) {
    expect((await parts(streamOf(text.slice(0, cut), text.slice(cut)), 100, 2)).map(([part]) => part).join("")).toBe("\ncccc\nd")
  }
})

test("A byte order mark is dropped", async () => {
  for (const json of ["{}", "[{}]"]) {
    expect((await lines(new Uint8Array([0xef, 0xbb, 0xbf]), json)).text.trim()).toBe("{}")
  }
})

test("A file of another format is refused, and the message says what to do", async () => {
  await expect(lines('{\n  "BuildVersion": 62000')).rejects.toThrow("rookery import")
  await expect(lines("PK\u0003\u0004")).rejects.toThrow("ZIP")
  await expect(parts(streamOf(...Array.from({ length: 18 }, () => "x".repeat(1 << 20))), 10)).rejects.toThrow("16 MiB")
})

/** A node that refuses lines with an x in them. */
async function refusing(part: Blob): Promise<PartAnswer> {
  const lines = (await part.text()).replace(/\n$/, "").split("\n")
  const bad = lines.flatMap((line, at) => (line.includes("x") ? [{ line: at + 1, reason: `no ($, line ${at + 1}, byte 1)` }] : []))
  return { stored: lines.length - bad.length, bad: bad.length, badLines: bad }
}

async function packed(text: string): Promise<Blob> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).blob()
}

test("Bad lines have their number in the file, compressed or not, in every part", async () => {
  const text = Array.from({ length: 90_000 }, (_, at) =>
    at % 30_000 === 29_999 ? "x" : `{"a":${at},"b":"0123456789012345678901234567890"}`,
  ).join("\n")
  for (const file of [new Blob([text]), await packed(text)]) {
    const seen: ImportState[] = []
    const ended = await importFile(file, refusing, (state) => seen.push(state), new AbortController().signal)
    expect(ended).toMatchObject({ lines: 90_000, stored: 89_997, bad: 3, bytes: file.size, totalBytes: file.size })
    expect(ended.badLines.map(({ line }) => line)).toEqual([30_000, 60_000, 90_000])
    expect(ended.badLines[0]?.reason).toBe("no ($, byte 1)")
    expect(seen.length).toBeGreaterThan(1)
  }
})

test("Bad documents of an array have their position in the array", async () => {
  const file = new Blob([`[{"a":1},\n"x",{"b":2}\n,"x"]`])
  const ended = await importFile(file, refusing, () => {}, new AbortController().signal)
  expect(ended).toMatchObject({ place: "document", lines: 4, stored: 2, bad: 2, bytes: file.size })
  expect(ended.badLines.map(({ line }) => line)).toEqual([2, 4])
})

test("An import that broke off continues after the last answered part, and counts nothing twice", async () => {
  const text = Array.from({ length: 90_000 }, (_, at) => `{"a":${at},"b":"0123456789012345678901234567890"}`).join("\n")
  let state: ImportState | undefined
  let calls = 0
  const failing = (part: Blob) => (++calls === 2 ? Promise.reject(new Error("no leader")) : refusing(part))
  const keep = (next: ImportState) => {
    state = next
  }
  await expect(importFile(new Blob([text]), failing, keep, new AbortController().signal)).rejects.toThrow("no leader")
  expect(state?.lines).toBeGreaterThan(0)
  expect(state?.lines).toBeLessThan(90_000)
  expect(await importFile(new Blob([text]), failing, keep, new AbortController().signal, state)).toMatchObject({
    lines: 90_000,
    stored: 90_000,
  })
})

test("An import that is stopped sends no other part", async () => {
  const control = new AbortController()
  let calls = 0
  const stopping = (part: Blob) => {
    calls++
    control.abort()
    return refusing(part)
  }
  const text = Array.from({ length: 90_000 }, () => `{"b":"0123456789012345678901234567890"}`).join("\n")
  await expect(importFile(new Blob([text]), stopping, () => {}, control.signal)).rejects.toThrow()
  expect(calls).toBe(1)
})

test("The lines of an answer are read, and an answer with an error is thrown", () => {
  expect(
    readAnswer('{"Progress":{"Lines":1,"Stored":1,"Bad":0}}\n{"BadLine":7,"Reason":"no"}\n{"Result":{"Lines":9,"Stored":8,"Bad":1}}\n'),
  ).toEqual({
    stored: 8,
    bad: 1,
    badLines: [{ line: 7, reason: "no" }],
  })
  expect(() => readAnswer('{"Result":{"Lines":9,"Stored":8,"Bad":1,"Error":"The disk is full."}}')).toThrow("The disk is full.")
})

test("A streamed query becomes lines of documents, whatever its chunks", async () => {
  const text = '{"Stats":{"IsStale":false,"TotalResults":2}}\n{"Item":{"a":"ä","b":{}}}\n{"Item":{"c":1}}\n'
  const bytes = encoder.encode(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const out = streamOf(bytes.slice(0, cut), bytes.slice(cut)).pipeThrough(withoutEnvelope(true, () => {}))
    expect(await new Response(out).text()).toBe('{"a":"ä","b":{}}\n{"c":1}\n')
  }
})

test("A streamed query with fewer results than announced is an error, and a stale one is reported", async () => {
  const linesOf = async (text: string, isCounted = true) => {
    const said: Statistics[] = []
    const stream = streamOf(text).pipeThrough(withoutEnvelope(isCounted, (statistics) => said.push(statistics)))
    return { text: await new Response(stream).text(), isStale: said[0]?.IsStale }
  }
  const stats = (isStale: boolean) => `{"Stats":{"IsStale":${isStale},"TotalResults":2}}\n{"Item":{"c":1}}\n`
  await expect(linesOf(stats(false))).rejects.toThrow("The node sent 1 of 2 results.")
  await expect(linesOf("")).rejects.toThrow("no statistics")
  await expect(linesOf('{"Stats":{"IsStale":false,"TotalResults":1}}\n{"Item":{"c":1')).rejects.toThrow("not a result")
  expect(await linesOf(stats(false), false)).toEqual({ text: '{"c":1}\n', isStale: false })
  expect(await linesOf(stats(true))).toEqual({ text: '{"c":1}\n', isStale: true })
})

test("A wrong row of CSV and a projected result are listed as bad lines, and later lines are stored", async () => {
  const sent: string[] = []
  const post = async (part: Blob): Promise<PartAnswer> => {
    const lines = (await part.text()).split("\n").filter((line) => line !== "")
    sent.push(...lines)
    return { stored: lines.length, bad: 0, badLines: [] }
  }
  const run = (text: string, csv?: CsvOptions, from?: ImportState) =>
    importFile(new Blob([text]), post, () => {}, new AbortController().signal, from, csv)
  const csv = await run("n\n1\n2,3\n4\n5,6", { collection: "", isTyped: true })
  expect(sent).toEqual(['{"n":1}', '{"n":4}'])
  expect(csv).toMatchObject({ place: "document", lines: 4, stored: 2, bad: 2 })
  expect(csv.badLines.map(({ line }) => line)).toEqual([2, 4])
  const begun = { ...csv, lines: 2, stored: 1, bad: 1, badLines: csv.badLines.slice(0, 1) }
  expect(await run("n\n1\n2,3\n4\n5,6", { collection: "", isTyped: true }, begun)).toEqual(csv)

  sent.length = 0
  const projected = '{"a":1,"@metadata":{"@projection":true,"@id":"a/1"}}'
  const group = '{"sum":1,"@metadata":{"@projection":true}}'
  const text = '{"text":"@projection\\""}'
  const lines = [projected, group, text, projected, '{"b":2}', projected]
  const json = await run(lines.join("\n"))
  expect(sent).toEqual([group, text, '{"b":2}'])
  expect(json).toMatchObject({ place: "line", lines: 6, stored: 3, bad: 3 })
  expect(json.badLines.map(({ line }) => line)).toEqual([1, 4, 6])
  expect(json.badLines[0]?.reason).toContain("would replace the whole document")
  // A continued import counts no line again.
  expect(await run(lines.join("\n"), undefined, { ...json, lines: 4, stored: 2, bad: 2 })).toMatchObject({ lines: 6, stored: 3, bad: 3 })
})
