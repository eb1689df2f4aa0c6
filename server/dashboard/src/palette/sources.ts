import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { databasesPath, readOf } from "../documents/store"
import { loadManual, type Texts } from "../manual/archive"
import { contentsOf } from "../manual/contents"
import { headingsOf } from "../manual/headings"
import { live } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { offeredPlaces } from "../shell/navigation"
import { useAsked } from "../shell/parts"
import { ask } from "../shell/request"
import { hrefOf, route } from "../shell/route"
import { theme } from "../shell/scheme"
import { may, session, signOut } from "../shell/session"
import { LastDatabaseKey, storage } from "../shell/storage"
import { toast } from "../shell/toast"
import type { Item } from "./rank"

/** Number of databases whose collections and indexes are offered. Of further databases only the name is offered. */
const MostDatabases = 12

/** The database in the address, or the one that was used last. */
function currentDatabase(names: readonly string[]): string | undefined {
  const { page, parts } = route.peek()
  const here = ["documents", "document", "database", "query", "indexes"].includes(page) ? parts[0] : undefined
  const last = storage.getItem(LastDatabaseKey)
  return names.find((name) => name === here) ?? names.find((name) => name === last) ?? names[0]
}

/** Returns the items that are known so far. The documents are those whose id begins with `text`. */
export function useItems(text: string): Item[] {
  const mayRead = may("read")
  const databases = useAsked<{ Databases: { Name: string }[] }>(mayRead ? databasesPath() : null)
  const names = databases.data.value?.Databases.map(({ Name }) => Name) ?? []
  const current = currentDatabase(names)
  const near = [...(current === undefined ? [] : [current]), ...names.filter((name) => name !== current)].slice(0, MostDatabases)
  const inside = useInside(near)
  const documents = useDocuments(near.slice(0, 3), text)
  const manual = useManual()
  const nodes = (live.value?.Nodes ?? []).map(({ Tag, Name }) => `${Tag} ${Name}`).join()
  const fixed = useMemo(
    () => [...pages(), ...actions(current), ...names.flatMap(ofDatabase), ...nodesNow()],
    [current, names.join(), nodes, theme.value, route.value],
  )
  return [...fixed, ...inside, ...documents, ...manual]
}

function pages(): Item[] {
  return offeredPlaces().map(({ page, title }) => ({ key: `page ${page}`, kind: "Pages", title, href: `#/${page}` }))
}

function nodesNow(): Item[] {
  return (live.peek()?.Nodes ?? []).map(({ Tag, Name }) => ({
    key: `node ${Tag}`,
    kind: "Nodes",
    title: Name,
    detail: `node ${Tag}`,
    href: hrefOf("node", Tag),
  }))
}

function ofDatabase(name: string): Item[] {
  return [
    { key: `database ${name}`, kind: "Databases", title: name, detail: "documents", words: "database", href: hrefOf("documents", name) },
    { key: `query ${name}`, kind: "Databases", title: `Query ${name}`, words: "database rql search", href: hrefOf("query", name) },
    { key: `indexes ${name}`, kind: "Databases", title: `Indexes of ${name}`, words: "database", href: hrefOf("indexes", name) },
    {
      key: `settings ${name}`,
      kind: "Databases",
      title: `Settings of ${name}`,
      words: "database revisions expiration refresh archival configuration",
      href: hrefOf("database", name),
    },
    {
      key: `subscriptions ${name}`,
      kind: "Databases",
      title: `Subscriptions of ${name}`,
      words: "database workers",
      href: hrefOf("database", name, "subscriptions"),
    },
    {
      key: `deleted ${name}`,
      kind: "Databases",
      title: `Deleted documents of ${name}`,
      words: "database bin trash restore revisions undelete",
      href: hrefOf("database", name, "deleted"),
    },
  ]
}

function actions(database: string | undefined): Item[] {
  const action = (title: string, words: string, does: { href: string } | { run: () => unknown }): Item => ({
    key: `action ${title}`,
    kind: "Actions",
    title,
    words,
    ...does,
  })
  const mayWrite = database !== undefined && may("write", database)
  return [
    ...(mayWrite ? [action(`New document in ${database}`, "create write add", { href: hrefOf("document", database) })] : []),
    ...(mayWrite ? [action(`New index in ${database}`, "create define", { href: `${hrefOf("indexes", database)}?new=` })] : []),
    ...(mayWrite
      ? [action(`Import into ${database}`, "upload csv json ndjson load", { href: `${hrefOf("documents", database)}?open=import` })]
      : []),
    ...(database === undefined
      ? []
      : [action(`Export ${database}`, "download ndjson dump", { href: `${hrefOf("documents", database)}?open=export` })]),
    ...(may("admin")
      ? [
          action("New database", "create add", { href: "#/documents?new=" }),
          action("Back up now", "backup save restore", { href: "#/cluster/backups" }),
          action("New token", "access user password scope", { href: "#/cluster/access" }),
        ]
      : []),
    ...(may("metrics") ? [action("Redis clients of this node", "resp port 6379 door", { href: "#/node" })] : []),
    ...(["light", "dark", "system"] as const)
      .filter((name) => name !== theme.peek())
      .map((name) =>
        action(`Colours: ${name === "system" ? "as the system has them" : name}`, "theme colors mode", {
          run: () => {
            theme.value = name
          },
        }),
      ),
    ...(session.peek()?.By === "session"
      ? [
          action("Sign out", "log out leave", {
            run: () => signOut().catch(() => toast("Not signed out: this node does not answer.", { tone: "bad" })),
          }),
        ]
      : []),
  ]
}

/** Returns the collections and indexes of databases, without those that cannot be read: their page says why. */
function useInside(databases: readonly string[]): Item[] {
  const found = useSignal<Item[]>([])
  useEffect(() => {
    const leaving = new AbortController()
    const read = async <T>(path: string, none: T): Promise<T> => ask<T>(path, { signal: leaving.signal }).catch(() => none)
    const look = async () => {
      for (const database of databases) {
        const [{ Collections }, { Results }] = await Promise.all([
          read<{ Collections: Record<string, number> }>(readOf(database, "collections/stats"), { Collections: {} }),
          read<{ Results: string[] }>(readOf(database, "indexes", { namesOnly: "true" }), { Results: [] }),
        ])
        if (leaving.signal.aborted) return
        const collections = Object.keys(Collections).filter((name) => name !== "@empty")
        found.value = [
          ...found.value,
          ...collections.map(
            (name): Item => ({
              key: `collection ${database} ${name}`,
              kind: "Collections",
              title: name,
              detail: database,
              href: hrefOf("documents", database, name),
            }),
          ),
          ...Results.map(
            (name): Item => ({
              key: `index ${database} ${name}`,
              kind: "Indexes",
              title: name,
              detail: database,
              href: hrefOf("indexes", database, name),
            }),
          ),
        ]
      }
    }
    found.value = []
    void look()
    return () => leaving.abort()
  }, [databases.join("\n")])
  return found.value
}

const SettleMilliseconds = 120
const MostDocuments = 6

/** The documents whose id begins with a text, of a few databases. */
function useDocuments(databases: readonly string[], text: string): Item[] {
  const found = useSignal<{ text: string; items: Item[] }>({ text: "", items: [] })
  const prefix = text.trim()
  useEffect(() => {
    if (prefix === "") return
    const leaving = new AbortController()
    const look = async () => {
      const answers = await Promise.all(
        databases.map((database) =>
          ask<{ Results: { "@metadata": { "@id": string } }[] }>(
            readOf(database, "docs", { startsWith: prefix, pageSize: MostDocuments, metadataOnly: "true" }),
            { signal: leaving.signal },
          ).catch(() => ({ Results: [] })),
        ),
      )
      if (leaving.signal.aborted) return
      const items = answers.flatMap(({ Results }, at) =>
        Results.map((result): Item => {
          const [id, database] = [result["@metadata"]["@id"], databases[at] ?? ""]
          return {
            key: `document ${database} ${id}`,
            kind: "Documents",
            title: id,
            detail: database,
            href: hrefOf("document", database, id),
          }
        }),
      )
      found.value = { text: prefix, items }
    }
    const timer = setTimeout(look, SettleMilliseconds)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [prefix, databases.join("\n")])
  // Until the answer arrives, the documents of a shorter text stay. The ranking drops those that no longer match.
  return prefix !== "" && prefix.startsWith(found.value.text) ? found.value.items : []
}

function useManual(): Item[] {
  const texts = useSignal<Texts | null>(null)
  useEffect(() => {
    // If the manual cannot be loaded, the other items are offered.
    loadManual().then(
      (read) => {
        texts.value = read
      },
      () => {},
    )
  }, [])
  const read = texts.value
  return useMemo(() => (read === null ? [] : helpItems(read)), [read])
}

/** The pages of the manual, each with the words of its headings. */
function helpItems(texts: Texts): Item[] {
  return contentsOf(texts).map(({ path, title, group }) => ({
    key: `help ${path}`,
    kind: "Help",
    title,
    detail: group,
    words: headingsOf(texts.get(path) ?? "")
      .map(({ text }) => text)
      .join(" "),
    href: manualHref(`/help/${path}`),
  }))
}
