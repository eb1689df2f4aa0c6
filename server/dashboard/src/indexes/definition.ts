import { offsetOf } from "../documents/json-text"

export interface FieldOptions {
  Indexing: "Default" | "Exact" | "Search" | "No"
  Storage: "Yes" | "No"
  Analyzer: string | null
  Suggestions: boolean
}

/** An index definition in the form of `GET indexes` and `PUT indexes`. */
export interface IndexDefinition {
  Name: string
  Type?: string
  State?: string
  LockMode?: string
  Priority?: string
  Maps: string[]
  Reduce: string | null
  Fields: Record<string, FieldOptions>
  Configuration: Record<string, string>
}

export interface Template {
  title: string
  explains: string
  make: (collection: string) => IndexDefinition
}

export const NoOptions: FieldOptions = { Indexing: "Default", Storage: "No", Analyzer: null, Suggestions: false }

const empty = (name: string, map: string, reduce: string | null = null): IndexDefinition => ({
  Name: name,
  Maps: [map],
  Reduce: reduce,
  Fields: {},
  Configuration: {},
})

/** Templates of new indexes. Each is a valid definition. */
export const Templates: Template[] = [
  {
    title: "Map in JavaScript",
    explains: "An entry for each document.",
    make: (of) => empty(`${of}/ByName`, `map('${of}', d => ({\n  name: d.name.toLowerCase()\n}))`),
  },
  {
    title: "Map in C# (LINQ)",
    explains: "The same, as RavenDB's .NET client writes it.",
    make: (of) => empty(`${of}/ByName`, `from d in docs.${of}\nselect new { name = d.name.ToLower() }`),
  },
  {
    title: "Several entries of one document",
    explains: "One for each element of an array.",
    make: (of) =>
      empty(`${of}/ByLine`, `map('${of}', d => d.lines.map(line => ({\n  product: line.product,\n  quantity: line.quantity\n})))`),
  },
  {
    title: "Full text",
    explains: "Words of a field, found by search().",
    make: (of) => ({
      ...empty(`${of}/Text`, `map('${of}', d => ({\n  text: [d.title, d.text]\n}))`),
      Fields: { text: { Indexing: "Search", Storage: "No", Analyzer: "StandardAnalyzer", Suggestions: false } },
    }),
  },
  {
    title: "Sums by a key (map/reduce)",
    explains: "Counts and totals that are kept up to date.",
    make: (of) =>
      empty(
        `${of}/Totals`,
        `map('${of}', d => ({\n  key: d.company,\n  count: 1,\n  total: d.total\n}))`,
        "groupBy(x => x.key).aggregate(g => ({\n  key: g.key,\n  count: g.values.reduce((n, v) => n + v.count, 0),\n  total: g.values.reduce((t, v) => t + v.total, 0)\n}))",
      ),
  },
]

/** The text of a definition in which a node found an error, and the position. */
export interface PlaceOfError {
  text: "map" | "reduce"
  /** Number of the map. */
  map: number
  at: number
  message: string
}

/**
 * Reads `The index 'U' was not defined: The map, line 2, column 1: …\nwhile\n^`. The node does not number the maps. It
 * quotes the line with the error, which identifies the map.
 */
export function placeOfError(sentence: string, definition: Pick<IndexDefinition, "Maps" | "Reduce">): PlaceOfError | null {
  const found = /The (map|reduce), line (\d+), column (\d+): /.exec(sentence)
  if (!found) return null
  const text = found[1] === "reduce" ? "reduce" : "map"
  const [message = "", quoted = ""] = sentence.slice(found.index + found[0].length).split("\n")
  const line = Number(found[2])
  const map = Math.max(
    0,
    text === "map" ? definition.Maps.findIndex((map) => map.split("\n")[line - 1]?.includes(quoted.replaceAll("…", "").trim())) : 0,
  )
  const source = text === "reduce" ? (definition.Reduce ?? "") : (definition.Maps[map] ?? "")
  return { text, map, at: offsetOf(source, line, Number(found[3])), message }
}

/** Returns the definition to send: without options that have no effect, and without the index's state. */
export function toPut(definition: IndexDefinition): Record<string, unknown> {
  const fields = Object.entries(definition.Fields).filter(([name]) => name.trim() !== "")
  return {
    Name: definition.Name.trim(),
    Maps: definition.Maps.filter((map) => map.trim() !== ""),
    ...(definition.Reduce?.trim() ? { Reduce: definition.Reduce } : {}),
    Fields: Object.fromEntries(fields.map(([name, options]) => [name.trim(), { ...options, Analyzer: options.Analyzer || null }])),
    Configuration: definition.Configuration,
  }
}

/** The analyzers of docs/reference/analyzers.md. */
export const Analyzers = [
  "StandardAnalyzer",
  "SimpleAnalyzer",
  "StopAnalyzer",
  "WhitespaceAnalyzer",
  "LowerCaseWhitespaceAnalyzer",
  "KeywordAnalyzer",
  "LowerCaseKeywordAnalyzer",
  "NGramAnalyzer",
  "EnglishAnalyzer",
  "GermanAnalyzer",
  "FrenchAnalyzer",
  "SpanishAnalyzer",
]

/**
 * Returns the fields of an index: those that an automatic index lists, or the members of the object that a map returns,
 * as far as its text shows them.
 */
export function fieldNamesOf(definition: IndexDefinition): string[] {
  const named = Object.keys(definition.Fields).filter((name) => name !== "__all_fields")
  if (definition.Type === "AutoMap") return named
  const text = definition.Reduce ?? definition.Maps[0] ?? ""
  const inMap = [...text.matchAll(/(?:[{,(]\s*)([\p{L}_][\p{L}\p{N}_]*)\s*(?::|=(?![=>]))/gu)].map((match) => match[1] ?? "")
  return [...new Set([...named, ...inMap])]
}
