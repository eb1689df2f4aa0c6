/** What this browser's storage did not take. */
const unstored = new Map<string, string>()

/**
 * This browser's storage. A browser may forbid it, and then already the access to `localStorage` throws, or it may be
 * full: then a value lasts until the page is loaded again.
 */
export const storage = {
  getItem(key: string): string | null {
    try {
      return unstored.get(key) ?? localStorage.getItem(key)
    } catch {
      return null
    }
  },
  setItem(key: string, value: string): void {
    try {
      localStorage.setItem(key, value)
      unstored.delete(key)
    } catch {
      unstored.set(key, value)
    }
  },
  removeItem(key: string): void {
    unstored.delete(key)
    try {
      localStorage.removeItem(key)
    } catch {
      // Nothing was stored.
    }
  },
}

/** Key of the database that was used last. */
export const LastDatabaseKey = "rookery.database"
