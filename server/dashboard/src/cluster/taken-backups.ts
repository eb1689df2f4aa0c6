/** A backup that was sent to this browser. Whether the browser saved it is not known to a page. */
export interface TakenBackup {
  name: string
  /** Milliseconds since 1970. */
  at: number
  bytes: number
  databases: number
  /** How many contents it lacks; missing in entries of older versions. */
  unreadable?: number
}

const Key = "rookery.backups"
const Most = 20

/** Returns the backups that this browser took of a cluster, the newest first. */
export function readTaken(storage: Pick<Storage, "getItem">, cluster: string): TakenBackup[] {
  try {
    const all = JSON.parse(storage.getItem(`${Key} ${cluster}`) ?? "[]") as TakenBackup[]
    return Array.isArray(all) ? all.filter((one) => typeof one?.name === "string" && Number.isFinite(one.at)) : []
  } catch {
    return []
  }
}

/** Adds a backup to the list. Without room in the browser's storage the list stays as it was. */
export function rememberTaken(storage: Pick<Storage, "getItem" | "setItem">, cluster: string, backup: TakenBackup): TakenBackup[] {
  const all = [backup, ...readTaken(storage, cluster)].slice(0, Most)
  try {
    storage.setItem(`${Key} ${cluster}`, JSON.stringify(all))
  } catch {
    // Shown until the page is loaded again.
  }

  return all
}

/** Returns the name of a backup's file: the cluster, and the time to the second, without signs that a file system forbids. */
export function fileNameOf(place: string, now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0")
  const time = `${now.toLocaleDateString("en-CA")}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`
  return `${place.replace(/[^\p{L}\p{N}_-]+/gu, "-") || "rookery"}-${time}.rookery-backup`
}
