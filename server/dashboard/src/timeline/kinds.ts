/** One lane of the timeline: a kind of disk work, by the name that the node gives it. */
export interface Kind {
  name: string
  title: string
  /** For the narrow column of lane names. */
  short: string
  /** The custom property of theme.css that holds its colour. */
  colour: string
  /** Which of the node's devices it happens on. */
  device: "Journal" | "Data"
  /** Behind "more": seldom of interest, and a lane each would push the rest off a small screen. */
  isFolded: boolean
}

export const kinds: readonly Kind[] = [
  kind("journal_write", "Journal write", "journal", "--journal-write", "Journal"),
  kind("journal_sync", "Journal sync", "sync", "--journal-sync", "Journal"),
  kind("run_write", "Run write", "run write", "--run-write", "Data"),
  kind("compaction", "Compaction", "compaction", "--compaction", "Data"),
  kind("index", "Index", "index", "--index", "Data"),
  kind("read", "Read", "read", "--read", "Data"),
  kind("journal_spare", "Journal spare", "spare", "--journal-write", "Journal", true),
  kind("manifest", "Manifest", "manifest", "--other", "Data", true),
  kind("backup", "Backup", "backup", "--other", "Data", true),
  kind("scrub", "Scrub", "scrub", "--other", "Data", true),
  kind("unknown", "Other work", "other", "--other", "Data", true),
]

export const JournalWrite = 0
export const JournalSync = 1
const Unknown = kinds.length - 1

const byName = new Map(kinds.map((one, index) => [one.name, index]))

/** The index of a kind in {@link kinds}; one that this page does not know (of a newer node) is "other work". */
export function kindOf(name: string): number {
  return byName.get(name) ?? Unknown
}

function kind(name: string, title: string, short: string, colour: string, device: Kind["device"], isFolded = false): Kind {
  return { name, title, short, colour, device, isFolded }
}
