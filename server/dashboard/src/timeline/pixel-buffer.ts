/**
 * The pixels of a canvas as 32-bit words. The cost of writing them does not depend on the content; that of thousands of
 * canvas calls a frame would.
 */
export class PixelBuffer {
  readonly image: ImageData
  readonly words: Uint32Array

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.image = new ImageData(width, height)
    this.words = new Uint32Array(this.image.data.buffer)
  }

  clear(colour: number): void {
    this.words.fill(colour)
  }

  rectangle(left: number, top: number, width: number, height: number, colour: number): void {
    const first = Math.max(0, left)
    const last = Math.min(this.width, left + width)
    if (first >= last) return
    for (let row = Math.max(0, top); row < Math.min(this.height, top + height); row++) {
      this.words.fill(colour, row * this.width + first, row * this.width + last)
    }
  }

  /** Draws a triangle that points down. */
  pointer(middle: number, top: number, half: number, colour: number): void {
    for (let row = 0; row <= half; row++) this.rectangle(middle - half + row, top + row, 2 * (half - row) + 1, 1, colour)
  }

  /** Draws a line through one height per column (NaN: none), with soft edges. */
  line(heights: Float32Array, thickness: number, colour: number, top: number, bottom: number): void {
    const half = thickness / 2
    for (let column = 0; column < this.width; column++) {
      const here = heights[column] as number
      if (Number.isNaN(here)) continue
      const before = column > 0 ? (heights[column - 1] as number) : here
      // Extends half way to each neighbour, so that a steep line has no gaps.
      const from = Number.isNaN(before) ? here : (here + before) / 2
      const next = column + 1 < this.width ? (heights[column + 1] as number) : here
      const to = Number.isNaN(next) ? here : (here + next) / 2
      const high = Math.min(from, here, to) - half
      const low = Math.max(from, here, to) + half
      for (let row = Math.max(top, Math.floor(high)); row < Math.min(bottom, Math.ceil(low)); row++) {
        const coverage = Math.min(row + 1, low) - Math.max(row, high)
        if (coverage > 0) this.blend(row * this.width + column, colour, Math.min(1, coverage))
      }
    }
  }

  private blend(index: number, colour: number, share: number): void {
    const below = this.words[index] as number
    const red = (below & 255) + ((colour & 255) - (below & 255)) * share
    const green = ((below >> 8) & 255) + (((colour >> 8) & 255) - ((below >> 8) & 255)) * share
    const blue = ((below >> 16) & 255) + (((colour >> 16) & 255) - ((below >> 16) & 255)) * share
    this.words[index] = ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0
  }
}
