/** A backup that was sent to this browser. A page cannot know whether the browser saved it. */
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

/** Returns the backups of a cluster that were sent to this browser, the newest first. */
export function readTaken(storage: Pick<Storage, "getItem">, cluster: string): TakenBackup[] {
  try {
    const all = JSON.parse(storage.getItem(`${Key} ${cluster}`) ?? "[]") as TakenBackup[]
    return Array.isArray(all) ? all.filter((backup) => typeof backup?.name === "string" && Number.isFinite(backup.at)) : []
  } catch {
    return []
  }
}

/** Returns the list with one more backup, and stores it. */
export function rememberTaken(storage: Pick<Storage, "getItem" | "setItem">, cluster: string, backup: TakenBackup): TakenBackup[] {
  const all = [backup, ...readTaken(storage, cluster)].slice(0, Most)
  storage.setItem(`${Key} ${cluster}`, JSON.stringify(all))
  return all
}

/** Returns the name of a backup's file: cluster, and time to the second, without characters that file systems forbid. */
export function fileNameOf(place: string, now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0")
  const time = `${now.toLocaleDateString("en-CA")}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`
  return `${place.replace(/[^\p{L}\p{N}_-]+/gu, "-") || "rookery"}-${time}.rookery-backup`
}
