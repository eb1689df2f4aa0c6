/** Kinds of items. Groups whose best items match equally well are listed in this order. */
export const Kinds = ["Pages", "Actions", "Databases", "Collections", "Indexes", "Documents", "Nodes", "Help"] as const

export type Kind = (typeof Kinds)[number]

export interface Item {
  /** Unique among all items. */
  key: string
  kind: Kind
  title: string
  /** A text beside the title, such as the database; it is searched too. */
  detail?: string
  /** Other words by which the item is found. */
  words?: string
  /** Where the item leads; an action has none and is run. */
  href?: string
  run?: () => unknown
}

export interface Group {
  kind: Kind
  items: Item[]
}

const MostOfKind = 6
const MostWithoutWords = 4

/**
 * Returns the items that contain all words of a text, in groups: the group with the best item first. Without a text,
 * returns the first pages, actions and databases.
 */
export function rank(items: readonly Item[], text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = Kinds.map((kind) => {
    const rated = items
      .filter((item) => item.kind === kind)
      .map((item) => ({ item, rate: rateOf(item, words) }))
      .filter(({ rate }) => rate > 0)
    // Equal ones stay in their order.
    rated.sort((left, right) => right.rate - left.rate)
    return { kind, best: rated[0]?.rate ?? 0, items: rated.slice(0, mostOf(kind, words.length)).map(({ item }) => item) }
  })
  return groups
    .filter((group) => group.items.length > 0)
    .sort((left, right) => right.best - left.best)
    .map(({ kind, items }) => ({ kind, items }))
}

function mostOf(kind: Kind, words: number): number {
  if (words > 0) return MostOfKind
  return kind === "Pages" ? 20 : kind === "Databases" || kind === "Actions" ? MostWithoutWords : 0
}

/**
 * Returns how well an item matches; 0 if a word is missing. A match at the beginning of the title counts most, one
 * inside a word least.
 */
function rateOf(item: Item, words: readonly string[]): number {
  if (words.length === 0) return 1
  const title = item.title.toLowerCase()
  const rest = `${item.detail ?? ""} ${item.words ?? ""}`.toLowerCase()
  let sum = 0
  for (const word of words) {
    const rate = rateOfWord(title, word, 1) || rateOfWord(rest, word, 0.3)
    if (rate === 0) return 0
    sum += rate
  }

  return sum / words.length
}

function rateOfWord(text: string, word: string, weight: number): number {
  const at = text.indexOf(word)
  if (at < 0) return 0
  if (text === word) return 12 * weight
  if (at === 0) return 10 * weight
  const isWord = new RegExp(`[^\\p{L}\\p{N}]${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "u").test(text)
  return (isWord ? 6 : 2) * weight
}
