/** A line of two texts side by side: in both, or in one of them only. */
export interface DiffLine {
  kind: "same" | "left" | "right"
  text: string
  leftNumber: number | null
  rightNumber: number | null
}

/** More than this many pairs of lines are not compared one by one: the browser would stand still. */
const MostPairs = 4_000_000

/** The lines that two texts share, in order, and those that only one has. */
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

/** Longest common subsequence of what is between the equal ends. */
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

/** Equal lines far from any difference are left out: of a document of thousands of lines a few are of interest. Null stands for a gap. */
export function withoutFarLines(lines: DiffLine[], context = 3): (DiffLine | null)[] {
  const near = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.kind === "same") return
    for (let i = Math.max(0, at - context); i <= Math.min(lines.length - 1, at + context); i++) near[i] = 1
  })
  const shown: (DiffLine | null)[] = []
  lines.forEach((line, at) => {
    // A gap of one line is no shorter than the line.
    const isAlone = (at === 0 || near[at - 1] === 1) && (at === lines.length - 1 || near[at + 1] === 1)
    if (near[at] || isAlone) shown.push(line)
    else if (shown.at(-1) !== null) shown.push(null)
  })
  return shown
}
