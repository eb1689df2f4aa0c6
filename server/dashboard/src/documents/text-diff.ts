/** A line of a comparison of two texts: in both, or in one of them only. */
export interface DiffLine {
  kind: "same" | "left" | "right"
  text: string
  leftNumber: number | null
  rightNumber: number | null
}

/** Maximum number of pairs of lines to compare. More would block the browser. */
const MostPairs = 4_000_000

/** Compares two texts line by line. */
export function diffLines(left: string, right: string): DiffLine[] {
  const a = left.split("\n")
  const b = right.split("\n")
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++

  const lines: DiffLine[] = []
  const same = (i: number, j: number) => lines.push({ kind: "same", text: a[i] ?? "", leftNumber: i + 1, rightNumber: j + 1 })
  for (let i = 0; i < head; i++) same(i, i)
  for (const [i, j] of middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    if (i !== null && j !== null) same(head + i, head + j)
    else if (i !== null) lines.push({ kind: "left", text: a[head + i] ?? "", leftNumber: head + i + 1, rightNumber: null })
    else if (j !== null) lines.push({ kind: "right", text: b[head + j] ?? "", leftNumber: null, rightNumber: head + j + 1 })
  }

  for (let i = tail; i > 0; i--) same(a.length - i, b.length - i)
  return lines
}

/** Returns the longest common subsequence of the lines between the equal beginning and end. */
function middle(a: string[], b: string[]): [number | null, number | null][] {
  if (a.length * b.length > MostPairs) {
    return [...a.map((_, i): [number, null] => [i, null]), ...b.map((_, j): [null, number] => [null, j])]
  }

  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
    }
  }

  const pairs: [number | null, number | null][] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([i++, j++])
    else if (i < a.length && (j === b.length || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0)))
      pairs.push([i++, null])
    else pairs.push([null, j++])
  }

  return pairs
}

/** Leaves out equal lines far from any difference. A null stands for a gap. */
export function withoutFarLines(lines: DiffLine[], context = 3): (DiffLine | null)[] {
  const near = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.kind === "same") return
    for (let i = Math.max(0, at - context); i <= Math.min(lines.length - 1, at + context); i++) near[i] = 1
  })
  const shown: (DiffLine | null)[] = []
  lines.forEach((line, at) => {
    // Keep a single line, because a gap takes as much space.
    const isAlone = (at === 0 || near[at - 1] === 1) && (at === lines.length - 1 || near[at + 1] === 1)
    if (near[at] || isAlone) shown.push(line)
    else if (shown.at(-1) !== null) shown.push(null)
  })
  return shown
}
