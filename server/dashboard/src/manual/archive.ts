import { send } from "../shell/request"

/** The texts of the manual by their paths, such as `how-to/upgrade.md`. */
export type Texts = ReadonlyMap<string, string>

let loading: Promise<Texts> | undefined

/** Loads the manual of this node's version, once. */
export function loadManual(): Promise<Texts> {
  loading ??= fetchManual().catch((failure: unknown) => {
    // The next call retries.
    loading = undefined
    throw failure
  })
  return loading
}

async function fetchManual(): Promise<Texts> {
  const response = await send("/help/manual.txt")
  return parseArchive(new Uint8Array(await response.arrayBuffer()))
}

/** Splits the file of all texts: lines with the length in bytes and the path of each, an empty line, and the texts. */
export function parseArchive(bytes: Uint8Array): Texts {
  const texts = new Map<string, string>()
  const decoder = new TextDecoder()
  const end = endOfHead(bytes)
  let at = end + 2
  for (const line of decoder.decode(bytes.subarray(0, end)).split("\n")) {
    const blank = line.indexOf(" ")
    const length = Number(line.slice(0, blank))
    texts.set(line.slice(blank + 1), decoder.decode(bytes.subarray(at, at + length)))
    at += length
  }

  if (at !== bytes.length) throw new Error(`The manual has ${bytes.length} bytes, and its lines name ${at}. Reload the page.`)
  return texts
}

function endOfHead(bytes: Uint8Array): number {
  const LineFeed = 10
  for (let at = 0; at + 1 < bytes.length; at++) if (bytes[at] === LineFeed && bytes[at + 1] === LineFeed) return at
  throw new Error("The manual does not begin with the list of its pages. Reload the page.")
}
