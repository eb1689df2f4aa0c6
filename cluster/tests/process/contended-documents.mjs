// A few documents that many clients write at once.

// The search that trusts no etag takes 200 operations, and 10 of unknown outcome: nine clients may be on their way when it is one too many.
const mostUnknown = 2

/** So many documents, each of which is followed by another before its history is too long to be searched. */
export class ContendedDocuments {
  /** All that there ever were. */
  keys = []
  #name
  #mostOperations
  #current

  constructor(name, count, mostOperations) {
    this.#name = name
    this.#mostOperations = mostOperations
    this.#current = Array.from({ length: count }, (_, number) => this.#begin(number))
  }

  /** The one that has a number now. */
  key(number) {
    return this.#current[number].key
  }

  /** Takes note of an operation. */
  count(key, outcome) {
    const number = this.#current.findIndex(document => document.key === key)
    if (number < 0) {
      return // one of before, whose last operations still come in
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
