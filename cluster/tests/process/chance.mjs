// Random numbers that are the same for the same seed.

export class Chance {
  #state

  constructor(seed) {
    this.#state = seed >>> 0
  }

  /** A whole number from `least` to `most`, both included. */
  between(least, most) {
    return least + Math.floor(this.#next() * (most - least + 1))
  }

  /** Whether an event of this probability happens. */
  happens(probability) {
    return this.#next() < probability
  }

  pick(list) {
    return list[this.between(0, list.length - 1)]
  }

  /** Returns the list in a random order (Fisher and Yates). */
  shuffle(list) {
    const shuffled = [...list]
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.between(0, last);
      [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]]
    }

    return shuffled
  }

  // mulberry32, by Tommy Ettinger
  #next() {
    this.#state = (this.#state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
