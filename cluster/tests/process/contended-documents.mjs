// A few documents that many clients write at the same time.

// The search without etags accepts 200 operations, 10 of them with unknown outcome. When a document reaches its limit,
// nine clients may still have requests in flight.
const mostUnknown = 2

/** A fixed number of contended documents. Each is replaced by a new one before its history is too long to be searched. */
export class ContendedDocuments {
  /** The ids of all documents, including replaced ones. */
  keys = []
  #name
  #mostOperations
  #current

  /**
   * @param name The beginning of the documents' ids.
   * @param count The number of documents at a time.
   * @param mostOperations The number of operations after which a document is replaced.
   */
  constructor(name, count, mostOperations) {
    this.#name = name
    this.#mostOperations = mostOperations
    this.#current = Array.from({ length: count }, (_, number) => this.#begin(number))
  }

  /** The current document with a number. */
  key(number) {
    return this.#current[number].key
  }

  /** Counts an operation. */
  count(key, outcome) {
    const number = this.#current.findIndex(document => document.key === key)
    if (number < 0) {
      return // a replaced document, whose last operations still end
    }

    const document = this.#current[number]
    document.operations++
    document.unknown += outcome === "Unknown" ? 1 : 0
    if (document.operations >= this.#mostOperations || document.unknown >= mostUnknown) {
      this.#current[number] = this.#begin(number)
    }
  }

  #begin(number) {
    const key = `${this.#name}/${number}/${this.keys.length}`
    this.keys.push(key)
    return { key, operations: 0, unknown: 0 }
  }
}
