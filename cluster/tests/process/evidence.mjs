// Whether faults had an effect: surviving a fault that never has one proves nothing.

const enough = 4

/** Counts for each fault how often it was played, and how often it had an effect. */
export class Evidence {
  #counts = new Map()

  /** @param tookHold Undefined for a fault whose own steps fail when it has no effect. */
  add(fault, tookHold) {
    const count = this.#counts.get(fault.name) ?? { played: 0, seen: 0 }
    this.#counts.set(fault.name, { played: count.played + 1, seen: count.seen + (tookHold === false ? 0 : 1) })
  }

  /** The faults that were played often and never had an effect. */
  get missing() {
    return [...this.#counts].filter(([, { played, seen }]) => played >= enough && seen === 0).map(([name]) => name)
  }

  toString() {
    const [full, partly] = [[], []]
    this.#counts.forEach(({ played, seen }, name) => (seen === played ? full : partly).push(`${name} ${seen} of ${played}`))
    return `${full.length} kinds of fault took hold each time${partly.length > 0 ? `; ${partly.join(", ")}` : ""}`
  }
}
