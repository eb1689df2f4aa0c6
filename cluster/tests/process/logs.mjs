// The logs of nodes: messages that are never permitted, and messages that a fault excuses.

const never = [
  /Invariant violated/,
  /A rule of consensus was found broken/,
  /computed other results/,
  /The node ends, because/, // logged before a fatal failure ends the process
  /Process terminated|Unhandled exception/,
]

/** Messages that are permitted only after a fault. The fault "card" means "failing" or "rot". */
const excused = [
  { fault: "failing", pattern: /The journal could not be written|A durable write could not be applied|could not be installed|Diagnosis mode(?!: The cluster refused)/ },
  { fault: "copy", pattern: /Diagnosis mode: The cluster refused this node's data for good/ },
  { fault: "rot", pattern: /has fewer entries than it once confirmed/ },
  { fault: "card", pattern: /^ +at [A-Z][\w.]*\./ }, // a line of the stack trace of an unexpected exception
]

/** Reads the logs of all nodes that ever ran, including killed ones. */
export class Logs {
  #everStarted
  #searched = new Map()

  /** @param everStarted The cluster's list of names and nodes, in the order of their starts; it may grow. */
  constructor(everStarted) {
    this.#everStarted = everStarted
  }

  /**
   * Returns the lines since the last call that are never permitted, or not permitted after these faults.
   * @param faults The faults that were caused since the last call: "failing" cards, "rot", a "copy" of a card.
   */
  search(faults = []) {
    const isWrong = line => never.some(pattern => pattern.test(line))
      || excused.some(({ fault, pattern }) => pattern.test(line) && !(fault === "card" ? ["failing", "rot"] : [fault]).some(one => faults.includes(one)))
    return this.#everStarted.flatMap(({ name, node }) => this.#newLines(node).filter(isWrong).map(line => `${name}: ${line}`))
  }

  #newLines(node) {
    const from = this.#searched.get(node) ?? 0
    const log = node.log
    // The last line of a running node may be incomplete.
    const end = node.end === undefined ? log.lastIndexOf("\n") + 1 : log.length
    this.#searched.set(node, end)
    return log.slice(from, end).split("\n")
  }
}
