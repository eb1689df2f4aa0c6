// The logs of nodes: messages that are never permitted, and messages that a fault excuses.

const never = [
  /Invariant violated/,
  /A rule of consensus was found broken/,
  /computed other results/,
  /The node ends, because/, // logged before a fatal failure ends the process
  /Process terminated|Unhandled exception/,
]

/** Messages that are permitted only during the fault `by`; "card" stands for "failing" and "rot". */
const excused = [
  { by: "failing", sentence: /The journal could not be written|A durable write could not be applied|could not be installed|Diagnosis mode(?!: The cluster refused)/ },
  { by: "copy", sentence: /Diagnosis mode: The cluster refused this node's data for good/ },
  { by: "rot", sentence: /has fewer entries than it once confirmed/ },
  { by: "card", sentence: /^ +at [A-Z][\w.]*\./ }, // an exception that nobody expected
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
   * Returns the new lines since the last call that nothing excuses.
   * @param excuses The faults since then: "failing" cards, "rot", a "copy" of a card.
   */
  search(excuses = []) {
    const isWrong = line => never.some(sentence => sentence.test(line))
      || excused.some(({ by, sentence }) => sentence.test(line) && !(by === "card" ? ["failing", "rot"] : [by]).some(excuse => excuses.includes(excuse)))
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
