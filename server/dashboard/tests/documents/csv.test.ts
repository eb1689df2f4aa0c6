import { expect, test } from "vitest"
import { CsvRows, csvOf, documentOfRow, linesOfCsv } from "../../src/documents/csv"
import { parseJson } from "../../src/documents/json-text"

const typed = { collection: "", isTyped: true }

function rowsOf(text: string, step = text.length): string[][] {
  const rows = new CsvRows()
  const found: string[][] = []
  for (let at = 0; at < text.length; at += step) found.push(...rows.push(text.slice(at, at + step)))
  return [...found, ...rows.finish()]
}

async function documentsOf(text: string | Uint8Array, options = typed): Promise<string[]> {
  const lines = await new Response(linesOfCsv(new Blob([text as BlobPart]).stream(), options)).text()
  return lines.split("\n").filter((line) => line !== "")
}

test("Rows are those of RFC 4180, in pieces of any size", () => {
  const text = 'name,note\r\n"Ann, the ""first""","two\nlines"\r\nBea,\n\nCid,"" \nDan,x'
  const rows = [
    ["name", "note"],
    ['Ann, the "first"', "two\nlines"],
    ["Bea", ""],
    ["Cid", " "],
    ["Dan", "x"],
  ]
  for (const step of [1, 2, 5, text.length]) expect(rowsOf(text, step), `${step}`).toEqual(rows)
})

test("The separator is that of the first row", () => {
  expect(rowsOf("a;b\n1,5;2")).toEqual([
    ["a", "b"],
    ["1,5", "2"],
  ])
  expect(rowsOf("a\tb\n1\t2")[1]).toEqual(["1", "2"])
  expect(rowsOf('\uFEFF"a;b",c\n1,2')[0]).toEqual(["a;b", "c"])
})

test("A quotation mark that is not closed is an error", () => {
  expect(() => rowsOf('a\n"x')).toThrow("within quotation marks")
})

test("Numbers keep their digits, and what only looks like one is a text", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"]
  expect(documentOfRow(names, ["1.50", "007", "-2e3", "true", "", "[1, 2]", "{x"], typed)).toBe(
    '{"a":1.50,"b":"007","c":-2e3,"d":true,"f":[1,2],"g":"{x"}',
  )
  expect(documentOfRow(["a"], ["1"], { collection: "", isTyped: false })).toBe('{"a":"1"}')
})

test("Columns with an at sign are metadata, and the collection is that of the file unless the row names one", () => {
  const options = { collection: "Cities", isTyped: true }
  expect(documentOfRow(["@id", "n"], ["c/1", "2"], options)).toBe('{"n":2,"@metadata":{"@id":"c/1","@collection":"Cities"}}')
  expect(documentOfRow(["@collection"], ["Towns"], options)).toBe('{"@metadata":{"@collection":"Towns"}}')
})

test("A file becomes documents one a line, and the rows before a wrong one are delivered before the error", async () => {
  expect(await documentsOf("n,t\n1,a\n2,b")).toEqual(['{"n":1,"t":"a"}', '{"n":2,"t":"b"}'])
  const reader = linesOfCsv(new Blob(["n\n1\n2,3\n4"]).stream(), typed).getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"n":1}\n')
  await expect(reader.read()).rejects.toThrow("Row 3 has 2 values, and the first row names 1 columns.")
})

test("Names that are missing or there twice, and other encodings, are refused", async () => {
  await expect(documentsOf("a,,b\n1,2,3")).rejects.toThrow("Column 2 has no name")
  await expect(documentsOf("a,a\n1,2")).rejects.toThrow("Two columns are named a")
  await expect(documentsOf(new Uint8Array([97, 10, 0xe9, 10]))).rejects.toThrow("not UTF-8")
})

test("What is written as CSV is read again as it was", async () => {
  const texts = [
    '{"name":"Ann, \\"A\\"","n":12345678901234567890.50,"lines":[{"q":1}],"@metadata":{"@id":"a/1","@collection":"People"}}',
    '{"name":" x","city":"Köln\\n2","@metadata":{"@id":"a/2","@collection":"People"}}',
  ]
  const csv = csvOf(texts.map((text) => ({ text, node: parseJson(text).node ?? never() })))
  expect(csv.split("\r\n")[0]).toBe("@id,@collection,name,n,lines,city")
  expect((await documentsOf(csv)).map((line) => JSON.parse(line))).toEqual(texts.map((text) => JSON.parse(text)))
  expect(csv).toContain("12345678901234567890.50")
})

function never(): never {
  throw new Error("no JSON")
}
