/**
 * Converts a file of JSON documents to one document a line. Accepts the forms of `rookery import`: a document a line,
 * documents one after the other over any number of lines, or arrays of documents. Only the current document is in
 * memory.
 */

/** The unit of counts and positions: lines if each document has its own, otherwise documents. */
export type Place = "line" | "document"

const LongestDocument = 16 << 20
const [Tab, Newline, Return, Space, Quote, Comma, Open, Backslash, Close] = [9, 10, 13, 32, 34, 44, 91, 92, 93]
const [OpenBrace, CloseBrace] = [123, 125]

const isSpace = (byte: number | undefined) => byte === Space || byte === Newline || byte === Return || byte === Tab

/** Finds the ends of JSON values. Does not validate them, because the node does. */
class ValueScanner {
  #depth = 0
  #isInText = false
  #isEscaped = false
  #isScalar = false

  /** Continues at `at`. Returns the position after the value, or -1 if the value continues in the next chunk. */
  endIn(chunk: Uint8Array, at: number): number {
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === Backslash) this.#isEscaped = true
        else if (byte === Quote) {
          this.#isInText = false
          if (this.#depth === 0) return this.#ended(at + 1)
        }
      } else if (this.#isScalar) {
        if (isSpace(byte) || byte === Comma || byte === Close || byte === CloseBrace) return this.#ended(at)
      } else if (byte === Quote) this.#isInText = true
      else if (byte === OpenBrace || byte === Open) this.#depth++
      else if (byte === CloseBrace || byte === Close) {
        if (--this.#depth <= 0) return this.#ended(at + 1)
      } else if (this.#depth === 0) this.#isScalar = true
    }

    return -1
  }

  /** Whether the value is complete if the input ends here. */
  get mayEnd(): boolean {
    return this.#isScalar
  }

  #ended(at: number): number {
    this.#depth = 0
    this.#isScalar = false
    return at
  }
}

/**
 * Decides by the beginning of a file whether it has one document a line. As in `rookery import`, it does not if it
 * begins with an array, or if its first value is not alone on its line. Reads each byte once.
 */
export class PlaceJudge {
  readonly #scanner = new ValueScanner()
  #stage: "before" | "within" | "after" = "before"

  /**
   * Continues with the next chunk. Returns null if more of the file is needed. A file that ends before that has lines.
   */
  judge(chunk: Uint8Array): Place | null {
    let at = 0
    if (this.#stage === "before") {
      while (isSpace(chunk[at])) at++
      if (at === chunk.length) return null
      if (chunk[at] !== OpenBrace) return chunk[at] === Open ? "document" : "line"
      this.#stage = "within"
    }

    if (this.#stage === "within") {
      const end = this.#scanner.endIn(chunk, at)
      if (chunk.subarray(at, end < 0 ? chunk.length : end).includes(Newline)) return "document"
      if (end < 0) return null
      this.#stage = "after"
      at = end
    }

    while (chunk[at] === Space || chunk[at] === Tab || chunk[at] === Return) at++
    return at === chunk.length ? null : chunk[at] === Newline ? "line" : "document"
  }
}

/**
 * Writes each document on one line. An error in the file follows the documents before it. (A TransformStream would
 * discard unread documents at an error.)
 */
export function onePerLine(bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = bytes.getReader()
  const scanner = new ValueScanner()
  let held: Uint8Array[] = []
  let length = 0
  let documents = 0
  let position = 0
  let isInValue = false
  let isInArray = false
  let isAfterValue = false
  let isAfterComma = false

  /** Adds a piece of the current document without its newlines. JSON strings contain none. */
  const keep = (piece: Uint8Array) => {
    held.push(piece.map((byte) => (byte === Newline || byte === Return ? Space : byte)))
    length += piece.length
    if (length > LongestDocument) {
      const size = "is larger than 16 MiB, or has no end. A document has at most 8 MiB."
      throw new Error(`Document ${documents + 1} of the file ${size}`)
    }
  }

  const wrong = (byte: number, wanted: string) =>
    new Error(`At byte ${position}, after document ${documents}, is '${String.fromCharCode(byte)}' where ${wanted}.`)

  /** Handles a byte between two documents; returns true if a document begins. */
  const begins = (byte: number): boolean => {
    if (isSpace(byte)) return false
    const isComma = byte === Comma && !(isInArray && isAfterValue)
    if (isComma || (byte === Close && isAfterComma)) {
      throw wrong(byte, "a document must stand")
    }

    isAfterComma = byte === Comma
    if (!isInArray) {
      if (byte !== Open) return true
      isInArray = true
      isAfterValue = false
      return false
    }

    if (byte === Close) {
      isInArray = false
      return false
    }

    if (!isAfterValue) return true
    if (byte !== Comma) {
      throw wrong(byte, "',' or ']' must stand")
    }

    isAfterValue = false
    return false
  }

  /** Processes a chunk and outputs the documents that it completes. */
  const take = (chunk: Uint8Array, give: (piece: Uint8Array) => void) => {
    for (let at = 0; at < chunk.length; ) {
      if (!isInValue) {
        isInValue = begins(chunk[at] as number)
        if (!isInValue) {
          at++
          position++
          continue
        }
      }

      const end = scanner.endIn(chunk, at)
      keep(chunk.subarray(at, end < 0 ? chunk.length : end))
      position += (end < 0 ? chunk.length : end) - at
      if (end < 0) return
      at = end
      documents++
      isInValue = false
      isAfterValue = true
      for (const piece of held) give(piece)
      give(new Uint8Array([Newline]))
      held = []
      length = 0
    }
  }

  /** Outputs the last document at the end of the file. */
  const finish = (give: (piece: Uint8Array) => void) => {
    if (isInValue && !scanner.mayEnd) {
      throw new Error(`The file ends within document ${documents + 1}: it is cut off.`)
    }

    if (isInArray) {
      throw new Error(`The file ends after document ${documents}, within its array: it is cut off.`)
    }

    for (const piece of held) give(piece)
  }

  let fault: unknown = null
  return new ReadableStream({
    // Called only when all output was read, so that an error follows it.
    async pull(control) {
      let given = 0
      const give = (piece: Uint8Array) => {
        given++
        control.enqueue(piece)
      }

      while (given === 0) {
        if (fault !== null) throw fault
        try {
          const { value, done } = await reader.read()
          if (value) take(value, give)
          if (!done) continue
          finish(give)
          control.close()
          return
        } catch (failure) {
          fault = failure
        }
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
