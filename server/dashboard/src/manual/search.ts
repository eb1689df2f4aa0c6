import type { Texts } from "./archive"
import type { ManualPage } from "./contents"
import { headingsOf, plain } from "./headings"

/** The text below one heading. */
interface Section {
  path: string
  page: string
  heading: string
  anchor: string
  text: string
  lowerText: string
  lowerHeading: string
  lowerPage: string
}

export interface Found {
  path: string
  page: string
  /** Empty above the first heading of a page. */
  heading: string
  anchor: string
  /** A piece of the text, with the places of the words in it. */
  excerpt: { text: string; isWord: boolean }[]
}

const MostFound = 24
const MostOfPage = 3
const ExcerptLength = 170

/** The sections of all pages, in which {@link search} looks. */
export function sectionsOf(texts: Texts, pages: readonly ManualPage[]): Section[] {
  return pages.flatMap(({ path, title }) => {
    const text = texts.get(path) ?? ""
    const headings = headingsOf(text)
    return headings.map((heading, at) => {
      const body = text.slice(text.indexOf("\n", heading.start) + 1, headings[at + 1]?.start ?? text.length)
      const readable = readableOf(body)
      return {
        path,
        page: title,
        heading: at === 0 ? "" : heading.text,
        anchor: at === 0 ? "" : heading.anchor,
        text: readable,
        lowerText: readable.toLowerCase(),
        lowerHeading: at === 0 ? "" : heading.text.toLowerCase(),
        lowerPage: title.toLowerCase(),
      }
    })
  })
}

/** Returns the sections that contain all words of a search, the best first. A searched word may be a part of a word. */
export function search(sections: readonly Section[], asked: string): Found[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean).map(stem)
  if (words.length === 0) return []
  const phrase = asked.trim().toLowerCase().replace(/\s+/g, " ")
  const ranked = sections
    .map((section) => ({ section, rank: rankOf(section, words, phrase) }))
    .filter(({ rank }) => rank > 0)
    .sort((left, right) => right.rank - left.rank)
  const ofPage = new Map<string, number>()
  const best: Found[] = []
  for (const { section } of ranked) {
    const count = ofPage.get(section.path) ?? 0
    ofPage.set(section.path, count + 1)
    if (count < MostOfPage) best.push({ ...section, excerpt: excerptOf(section, words) })
    if (best.length === MostFound) break
  }

  return best
}

// A search for "indexes" finds "index" too.
function stem(word: string): string {
  return word.length > 4 ? word.replace(/e?s$/, "") : word
}

function rankOf(section: Section, words: readonly string[], phrase: string): number {
  let rank = 0
  for (const word of words) {
    const inText = count(section.lowerText, word)
    const inHeading = section.lowerHeading.includes(word)
    const inPage = section.lowerPage.includes(word)
    if (inText === 0 && !inHeading && !inPage) return 0
    rank += Math.min(inText, 5) + (inHeading ? 20 : 0) + (inPage ? (section.heading === "" ? 25 : 8) : 0)
  }

  if (section.lowerText.includes(phrase)) rank += 6
  if (section.lowerHeading === phrase || (section.heading === "" && section.lowerPage === phrase)) rank += 40
  return rank
}

function count(text: string, word: string): number {
  let found = 0
  for (let at = text.indexOf(word); at >= 0 && found < 5; at = text.indexOf(word, at + word.length)) found++
  return found
}

function excerptOf(section: Section, words: readonly string[]): Found["excerpt"] {
  const places = words.map((word) => section.lowerText.indexOf(word)).filter((at) => at >= 0)
  const from = Math.max(0, Math.min(...places, section.text.length) - ExcerptLength / 4)
  const start = places.length === 0 || from === 0 ? 0 : section.text.indexOf(" ", from) + 1
  const text = section.text.slice(start, start + ExcerptLength)
  const pieces: Found["excerpt"] = start > 0 ? [{ text: "… ", isWord: false }] : []
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "i")
  for (const [at, piece] of text.split(pattern).entries()) if (piece !== "") pieces.push({ text: piece, isWord: at % 2 === 1 })
  if (start + ExcerptLength < section.text.length) pieces.push({ text: " …", isWord: false })
  return pieces
}

/** Returns Markdown as one line of text, without rows of dashes, marks of lists and targets of links. */
function readableOf(markdown: string): string {
  return plain(
    markdown
      .replace(/<!--[\s\S]*?-->/g, "")
      .replace(/^\s*\|?[\s:|-]*-[\s:|-]*$/gm, "")
      .replace(/^\s*\|\s*|\s*\|\s*$/gm, "")
      .replace(/\s+\|\s+/g, " · ")
      .replace(/^\s*(?:[-*]|\d+\.)\s+/gm, "")
      .replace(/^```.*$/gm, ""),
  ).replace(/\s+/g, " ")
}
