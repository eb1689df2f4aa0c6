/** A heading of a page. */
export interface Heading {
  depth: number
  /** The text without markup. */
  text: string
  /** The anchor, the same as GitHub's. */
  anchor: string
  /** Offset of the heading's line in the page. */
  start: number
}

/** Returns the text of one line of Markdown without its markup. */
export function plain(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\\(.)/g, "$1")
    .trim()
}

/** Returns a function from a page's headings to their anchors: a second heading with the same text gets `-1`, etc. */
export function anchors(): (text: string) => string {
  const known = new Map<string, number>()
  return (text) => {
    const base = text
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-")
    const count = known.get(base) ?? 0
    known.set(base, count + 1)
    return count === 0 ? base : `${base}-${count}`
  }
}

/** Returns the headings of a page in their order, without those in code. */
export function headingsOf(page: string): Heading[] {
  const anchorOf = anchors()
  const headings: Heading[] = []
  let fence = ""
  let start = 0
  for (const line of page.split("\n")) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    if (mark && (fence === "" || line.trim() === fence)) fence = fence === "" ? mark : ""
    const heading = fence === "" ? /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) : null
    if (heading) {
      const text = plain(heading[2] ?? "")
      headings.push({ depth: heading[1]?.length ?? 1, text, anchor: anchorOf(text), start })
    }

    start += line.length + 1
  }

  return headings
}
