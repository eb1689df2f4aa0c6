import { layOut, type Member, memberOf, type Node, parseJson, stringOf, utf8Length } from "./json-text"

/** A file that belongs to a document, as its metadata lists it. */
export interface ListedAttachment {
  Name: string
  Hash: string
  ContentType: string
  Size: number
}

/** A document as a node returned it. */
export interface StoredDocument {
  id: string
  collection: string
  changeVector: string
  lastModified: string
  /** When the document expires; null if it does not. */
  expires: string | null
  /** What is deleted with the document and is not in its text, as "2 attachments and 1 counter"; empty for nothing. */
  belongings: string
  attachments: ListedAttachment[]
  /** What the node says about the document: `HasAttachments`, `HasCounters`, `HasRevisions`, `DeleteRevision` … */
  flags: ReadonlySet<string>
  /** The text to edit: indented, without the metadata that the node adds. */
  readonly text: string
  /** Size in bytes, with the node's metadata. */
  bytes: number
  /** The document's members on one line, without metadata, for lists. */
  preview: string
}

/** Members of the metadata that only the node sets. */
const NodesOwn = new Set(["@id", "@change-vector", "@last-modified", "@index-score", "@projection", "@etag", "@flags"])

/** Members that only the node sets, too, and that a comparison of revisions shows. */
const Belongings = new Set(["@attachments", "@counters", "@counters-snapshot"])

const PreviewLength = 160
const PreviewValueLength = 60
const NamedMembers = 3

/** Splits the answer `{"Results":[…]}` into documents without parsing their numbers. A missing document is null. */
export function documentsOf(answer: string): (StoredDocument | null)[] {
  const { node } = parseJson(answer)
  const results = memberOf(node ?? undefined, "Results")?.items ?? []
  return results.map((result) => (result.kind === "object" ? documentOf(answer, result) : null))
}

/** Splits the answer into revisions. Their texts show the names of attachments and the values of counters, too. */
export function revisionsOf(answer: string): (StoredDocument | null)[] {
  const { node } = parseJson(answer)
  const results = memberOf(node ?? undefined, "Results")?.items ?? []
  return results.map((result) => (result.kind === "object" ? documentOf(answer, result, true) : null))
}

/** Converts one result of an answer to a document. */
export function documentOf(answer: string, node: Node, showsBelongings = false): StoredDocument {
  const metadata = memberOf(node, "@metadata")
  const textOf = (name: string) => {
    const value = memberOf(metadata, name)
    return value?.kind === "string" ? stringOf(answer, value) : ""
  }
  const own = (node.members ?? []).filter((member) => member.name !== "@metadata")
  const kept = (metadata?.members ?? []).filter((member) => !NodesOwn.has(member.name) && (showsBelongings || !Belongings.has(member.name)))
  const attachments = memberOf(metadata, "@attachments")
  let text: string | undefined
  return {
    id: textOf("@id"),
    collection: textOf("@collection") || "@empty",
    changeVector: textOf("@change-vector"),
    lastModified: textOf("@last-modified"),
    expires: textOf("@expires") || null,
    belongings: ["attachment", "counter"]
      .map((kind) => ({ kind, many: memberOf(metadata, `@${kind}s`)?.items?.length ?? 0 }))
      .filter(({ many }) => many > 0)
      .map(({ kind, many }) => `${many} ${kind}${many === 1 ? "" : "s"}`)
      .join(" and "),
    attachments: attachments ? (JSON.parse(answer.slice(attachments.start, attachments.end)) as ListedAttachment[]) : [],
    flags: new Set(textOf("@flags").split(", ")),
    // Computed on demand, because a list contains many documents that are never opened.
    get text() {
      text ??= readable(editable(answer, own, kept))
      return text
    },
    bytes: utf8Length(answer.slice(node.start, node.end)),
    preview: readable(brief(answer, own)),
  }
}

/**
 * Replaces escapes of visible characters by the characters, because other programs write "K\\u00f6ln". Invisible and
 * confusable characters stay escaped.
 */
export function readable(text: string): string {
  return text.includes("\\u")
    ? text.replace(
        /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|[^u])/gi,
        (escape, high?: string, low?: string, unit?: string) => {
          if (high === undefined && unit === undefined) return escape
          const character = String.fromCharCode(
            ...[high ?? unit, low].flatMap((hex) => (hex === undefined ? [] : [Number.parseInt(hex, 16)])),
          )
          return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) && character !== '"' && character !== "\\" ? character : escape
        },
      )
    : text
}

function editable(answer: string, own: Member[], kept: Member[]): string {
  const lines = own.map((member) => `  ${answer.slice(member.nameStart, member.nameEnd)}: ${layOut(answer, member.value, "  ")}`)
  if (kept.length > 0) {
    const metadata = kept.map((member) => `    ${answer.slice(member.nameStart, member.nameEnd)}: ${metadataValue(answer, member)}`)
    lines.push(`  "@metadata": {\n${metadata.join(",\n")}\n  }`)
  }

  return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n}`
}

/** Lays out a value of the metadata; each attachment has one line, so that a comparison shows it as one difference. */
function metadataValue(answer: string, { name, value }: Member): string {
  if (name !== "@attachments" || !value.items) return layOut(answer, value, "    ")
  return `[\n${value.items.map((item) => `      ${answer.slice(item.start, item.end)}`).join(",\n")}\n    ]`
}

function brief(answer: string, own: Member[]): string {
  let text = ""
  for (const member of own) {
    text += `${text === "" ? "" : ", "}${member.name}: ${briefValue(answer, member.value)}`
    if (text.length > PreviewLength) return `${cut(text, PreviewLength)}…`
  }

  return text
}

/** Abbreviates a value: an array to the number of its items, an object to the names of its first members. */
function briefValue(answer: string, value: Node): string {
  if (value.items) return `[${value.items.length}]`
  if (value.members) {
    const names = value.members.slice(0, NamedMembers).map((member) => member.name)
    return `{${names.join(", ")}${value.members.length > NamedMembers ? ", …" : ""}}`
  }

  const text = answer.slice(value.start, Math.min(value.end, value.start + PreviewValueLength + 1))
  return text.length > PreviewValueLength ? `${cut(text, PreviewValueLength)}…` : text
}

/** Cuts a text, but never within a surrogate pair or an escape. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/(?:[\ud800-\udbff]|\\(?:u[0-9a-f]{0,3})?)$/i, "")
}

/** Returns the initial text of a new document. */
export function newDocumentText(collection: string | null): string {
  return collection && !collection.startsWith("@")
    ? `{\n  \n  "@metadata": {\n    "@collection": ${JSON.stringify(collection)}\n  }\n}`
    : "{\n  \n}"
}
