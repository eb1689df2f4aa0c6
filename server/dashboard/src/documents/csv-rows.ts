/** A value of a row. A value in quotation marks is always a text. */
export interface CsvValue {
  text: string
  isQuoted: boolean
}

export interface CsvRow {
  /** The number of the row in the file, from 1; empty rows count too. */
  number: number
  values: CsvValue[]
}

const LongestRow = 8 << 20

/** Splits text into rows of values by RFC 4180; the separator is that of the first row. Takes text in pieces. */
export class CsvRows {
  private row: CsvValue[] = []
  private value = ""
  private isQuoted = false
  private wasQuoted = false
  private afterReturn = false
  private separator = ""
  private readonly head = new Head()
  private length = 0
  private number = 1

  /** Takes the next piece and returns the rows that end in it. */
  push(text: string): CsvRow[] {
    if (this.separator !== "") return this.read(text)
    return this.head.push(text) ? this.begin() : []
  }

  /** Returns the last row, if no line end follows it. Throws within quotation marks. */
  finish(): CsvRow[] {
    const rows = this.separator === "" ? this.begin() : []
    if (this.isQuoted) throw new Error(`The file ends within quotation marks, in row ${this.number}.`)
    if (this.value !== "" || this.wasQuoted || this.row.length > 0) rows.push(...[this.endRow()].filter(isRow))
    return rows
  }

  private begin(): CsvRow[] {
    this.separator = this.head.separator()
    return this.read(this.head.text)
  }

  private read(text: string): CsvRow[] {
    const rows: CsvRow[] = []
    for (const sign of text) {
      if (++this.length > LongestRow)
        throw new Error(`Row ${this.number} is longer than 8 MiB: a quotation mark is not closed, or this is not CSV.`)
      if (this.isQuoted) {
        if (sign === '"') this.isQuoted = false
        else this.value += sign
      } else if (sign === '"' && this.wasQuoted) {
        // A doubled quotation mark stands for one.
        this.value += sign
        this.isQuoted = true
      } else if (sign === '"' && this.value === "") {
        this.isQuoted = true
        this.wasQuoted = true
      } else if (sign === this.separator) {
        this.endValue()
      } else if (sign === "\n" || sign === "\r") {
        if (!(sign === "\n" && this.afterReturn)) rows.push(this.endRow())
      } else if (this.wasQuoted) {
        // Refused, because a missing or surplus quotation mark would make one value of many rows.
        throw new Error(
          `Row ${this.number}: '${sign}' follows a closing quotation mark. A quotation mark within a quoted value is written twice.`,
        )
      } else {
        this.value += sign
      }

      this.afterReturn = sign === "\r" && !this.isQuoted
    }

    return rows.filter(isRow)
  }

  private endValue(): void {
    this.row.push({ text: this.value, isQuoted: this.wasQuoted })
    this.value = ""
    this.wasQuoted = false
  }

  private endRow(): CsvRow {
    this.endValue()
    const values = this.row
    this.row = []
    this.length = 0
    return { number: this.number++, values }
  }
}

/** An empty line is not a row, and neither are the separators that spreadsheets write below the last row. */
function isRow({ values }: CsvRow): boolean {
  return values.some(({ text, isQuoted }) => text !== "" || isQuoted)
}

/** The beginning of a file to the end of its first row, which tells the separator. Reads each character once. */
class Head {
  text = ""
  private at = 0
  private isQuoted = false
  private readonly counts = new Map([
    [",", 0],
    [";", 0],
    ["\t", 0],
  ])

  /** Takes the next piece; returns whether the first row has ended. */
  push(piece: string): boolean {
    this.text = this.text === "" ? piece.replace(/^\uFEFF/, "") : this.text + piece
    for (; this.at < this.text.length; this.at++) {
      const sign = this.text[this.at] ?? ""
      if (sign === '"') this.isQuoted = !this.isQuoted
      else if (this.isQuoted) continue
      else if (sign === "\n" || sign === "\r") return true
      const count = this.counts.get(sign)
      if (count !== undefined) this.counts.set(sign, count + 1)
    }

    return this.text.length >= LongestRow
  }

  /** Returns the separator that is most frequent in the first row; a comma if the row has none. */
  separator(): string {
    return [...this.counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0]
  }
}
