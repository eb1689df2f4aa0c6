/** A kind of disk operation, by the node's name for it. The timeline has a lane for each. */
export interface Kind {
  name: string
  title: string
  /** Short name for the column of lane names. */
  short: string
  /** The custom property of theme.css with its colour. */
  colour: string
  /** The node's device on which it happens. */
  device: "Journal" | "Data"
  /** Whether the lane is shown only after "more", to save space on small screens. */
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

/** Returns the index of a kind in {@link kinds}. A kind that only a newer node knows is "other work". */
export function kindOf(name: string): number {
  return byName.get(name) ?? Unknown
}

function kind(name: string, title: string, short: string, colour: string, device: Kind["device"], isFolded = false): Kind {
  return { name, title, short, colour, device, isFolded }
}
