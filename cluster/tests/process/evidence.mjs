// Whether faults took hold: one that never does proves nothing by being survived.

const enough = 4

/** Counts for each fault how often it was played, and how often it was seen to take hold. */
export class Evidence {
  #counts = new Map()

  /** @param tookHold Undefined for a fault whose own steps fail when it does not. */
  add(fault, tookHold) {
    const count = this.#counts.get(fault.name) ?? { played: 0, seen: 0 }
    this.#counts.set(fault.name, { played: count.played + 1, seen: count.seen + (tookHold === false ? 0 : 1) })
  }

  /** What was played often, and was never seen to take hold. */
  get missing() {
    return [...this.#counts].filter(([, { played, seen }]) => played >= enough && seen === 0).map(([name]) => name)
  }

  toString() {
    const [full, partly] = [[], []]
    this.#counts.forEach(({ played, seen }, name) => (seen === played ? full : partly).push(`${name} ${seen} of ${played}`))
    return `${full.length} kinds of fault took hold each time${partly.length > 0 ? `; ${partly.join(", ")}` : ""}`
  }
}
