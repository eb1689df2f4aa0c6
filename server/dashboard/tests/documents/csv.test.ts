import { expect, test } from "vitest"
import { CsvColumns, csvHead, csvRow, linesOfCsv } from "../../src/documents/csv"
import { CsvRows } from "../../src/documents/csv-rows"
import { parseJson } from "../../src/documents/json-text"

const typed = { collection: "", isTyped: true }

function rowsOf(text: string, step = text.length): string[][] {
  const rows = new CsvRows()
  const found = []
  for (let at = 0; at < text.length; at += step) found.push(...rows.push(text.slice(at, at + step)))
  return [...found, ...rows.finish()].map(({ values }) => values.map((value) => value.text))
}

async function read(text: string | Uint8Array, options = typed): Promise<{ documents: string[]; bad: [number, string][] }> {
  const bad: [number, string][] = []
  const stream = linesOfCsv(new Blob([text as BlobPart]).stream(), options, (line, reason) => bad.push([line, reason]))
  const lines = await new Response(stream).text()
  return { documents: lines.split("\n").slice(0, -1), bad }
}

const documentsOf = async (text: string | Uint8Array, options = typed) => (await read(text, options)).documents

function csvOf(texts: readonly string[]): string {
  const items = texts.map((text) => ({ text, node: parseJson(text).node ?? never() }))
  const columns = new CsvColumns()
  for (const { text, node } of items) columns.add(text, node)
  return csvHead(columns.all) + items.map(({ text, node }) => csvRow(columns.all, text, node)).join("")
}

test("Rows are read by RFC 4180, in chunks of any size", () => {
  const text = 'name,note\r\n"Ann, the ""first""","two\nlines"\r\nBea,\n\nCid,"" \nDan,x'.replace('"" ', " ")
  const rows = [
    ["name", "note"],
    ['Ann, the "first"', "two\nlines"],
    ["Bea", ""],
    ["Cid", " "],
    ["Dan", "x"],
  ]
  for (const step of [1, 2, 5, text.length]) expect(rowsOf(text, step), `${step}`).toEqual(rows)
})

test("The separator is detected in the first row", () => {
  expect(rowsOf("a;b\n1,5;2")).toEqual([
    ["a", "b"],
    ["1,5", "2"],
  ])
  expect(rowsOf("a\tb\n1\t2")[1]).toEqual(["1", "2"])
  expect(rowsOf('\uFEFF"a;b",c\n1,2')[0]).toEqual(["a;b", "c"])
})

test("A line break within a name does not end the first row", () => {
  for (const step of [1, 7, 100]) {
    expect(rowsOf('"size\n(in cm, mm)";b\n1,5;2', step)).toEqual([
      ["size\n(in cm, mm)", "b"],
      ["1,5", "2"],
    ])
  }
})

test("A quotation mark that is not closed is an error", () => {
  expect(() => rowsOf('a\n"x')).toThrow("within quotation marks, in row 2")
})

test("A character after a closing quotation mark is an error that names the row", () => {
  expect(() => rowsOf('id,note\n1,"foo\n2,"bar\n')).toThrow("Row 2: 'b' follows a closing quotation mark")
  expect(() => rowsOf('a\n\n"x" y\n')).toThrow("Row 3: ' ' follows")
})

test("Rows that have only separators, as spreadsheets write them at the end, are skipped", async () => {
  expect(await documentsOf("a,b\n1,2\n,\n,,,\r\n")).toEqual(['{"a":1,"b":2}'])
})

test("All values of a column get the same type", async () => {
  const columns: [string, string][] = [
    ["10115,01067", '"10115","01067"'],
    ["12E3,12E4", '"12E3","12E4"'],
    ["1234567890123456,1", '"1234567890123456","1"'],
    ["123456789012345,1.50", "123456789012345,1.50"],
    ["-2,null", "-2,null"],
    ["true,false", "true,false"],
    ["true,1", '"true","1"'],
    ["null,x", '"null","x"'],
  ]
  for (const [values, json] of columns) {
    const found = await documentsOf(`a\n${values.replace(",", "\n")}\n`)
    expect(found.map((line) => line.slice('{"a":'.length, -1)).join(), values).toBe(json)
  }

  expect(await documentsOf('a,b\n"[1, 2]",{x\n{},y')).toEqual(['{"a":[1,2],"b":"{x"}', '{"a":{},"b":"y"}'])
  expect(await documentsOf("a\n1", { collection: "", isTyped: false })).toEqual(['{"a":"1"}'])
})

test("A quoted value is always a string", async () => {
  expect(await documentsOf('zip,n\n"10115",1\n"",2\n,3')).toEqual(['{"zip":"10115","n":1}', '{"zip":"","n":2}', '{"n":3}'])
})

test("A row is bad if its value has another type than the column has in the first rows", async () => {
  const rows = Array.from({ length: 1500 }, (_, at) => (at === 1200 ? "01067" : `${at}`))
  const { documents, bad } = await read(`zip\n${rows.join("\n")}\n`)
  expect(documents.length).toBe(1500)
  expect([documents[1199], documents[1200], documents[1201]]).toEqual(['{"zip":1199}', "", '{"zip":1201}'])
  expect(bad).toEqual([
    [1201, expect.stringContaining('Row 1202: the values of column zip in the first rows are numbers, and this one is "01067"')],
  ])
})

test("Columns that begin with @ are metadata, and @collection overrides the collection of the file", async () => {
  const options = { collection: "Cities", isTyped: true }
  expect(await documentsOf("@id,n\nc/1,2", options)).toEqual(['{"n":2,"@metadata":{"@id":"c/1","@collection":"Cities"}}'])
  expect(await documentsOf("@collection\nTowns", options)).toEqual(['{"@metadata":{"@collection":"Towns"}}'])
})

test("Each row becomes a document on a line, and a row with too many values is bad", async () => {
  expect(await documentsOf("n,t\n1,a\n2,b")).toEqual(['{"n":1,"t":"a"}', '{"n":2,"t":"b"}'])
  const { documents, bad } = await read("n\n1\n\n2,3\n4")
  expect(documents).toEqual(['{"n":1}', "", '{"n":4}'])
  expect(bad).toEqual([[2, "Row 4 has 2 values, and the first row names 1 columns."]])
})

test("Missing and duplicate column names and encodings other than UTF-8 are refused", async () => {
  await expect(documentsOf("a,,b\n1,2,3")).rejects.toThrow("Column 2 has no name")
  await expect(documentsOf("a,a\n1,2")).rejects.toThrow("Two columns are named a")
  await expect(documentsOf(new Uint8Array([97, 10, 0xe9, 10]))).rejects.toThrow("not UTF-8")
})

test("Documents that were written as CSV are the same after reading it", async () => {
  const of = (id: string, more = "") => `"@metadata":{"@id":"${id}","@collection":"People"${more}}`
  const texts = [
    `{"name":"Ann, \\"A\\"","n":12345678901234567890.50,"lines":[{"q":1}],${of("a/1")}}`,
    `{"name":" x","city":"Köln\\n2",${of("a/2", ',"@expires":"2030-01-01T00:00:00.0000000Z"')}}`,
    `{"zip":"10115","a":"true","b":"null","c":"","d":"[1]","e":"007",${of("a/3")}}`,
    `{"zip":10115,"a":true,"b":null,"c":1e5,"d":[1],"e":{},${of("a/4")}}`,
    `{"zip":"1e5","a":"\\"[1]\\"","b":"\\"x\\"","c":"{\\"q\\":\\"a,b\\"}","d":"[1","e":"-0.50",${of("a/5")}}`,
    `{" ":"name with spaces","":"none",${of("a/6")}}`,
  ]
  const csv = csvOf(texts)
  expect(csv.split("\r\n")[0]).toBe('"@id","@collection","@expires","name","n","lines","city","zip","a","b","c","d","e"," ",""')
  const sorted = (line: string) => JSON.stringify(Object.entries(JSON.parse(line)).sort())
  expect((await documentsOf(csv)).map(sorted)).toEqual(texts.map(sorted))
  expect(csv).toContain("12345678901234567890.50")
})

test("The id of a projected result is exported in a column that an import does not take for the id", () => {
  const projected = '{"name":"Ann","@metadata":{"@projection":true,"@id":"people/1"}}'
  expect(csvOf([projected])).toBe('"id()","name"\r\npeople/1,Ann\r\n')
  expect(csvOf([projected.replace("true", "false")])).toBe('"@id","name"\r\npeople/1,Ann\r\n')
})

test("A document with a member that CSV uses for metadata is refused", () => {
  expect(() => csvOf(['{"@id":"x","@metadata":{"@id":"a/1"}}'])).toThrow("has a member @id, which CSV keeps for metadata")
})

function never(): never {
  throw new Error("no JSON")
}
