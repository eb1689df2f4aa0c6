/** Calls `resized` with a canvas' size in device pixels at each change. Returns a function that ends this. */
export function whenResized(canvas: HTMLCanvasElement, resized: (width: number, height: number, ratio: number) => void): () => void {
  const observer = new ResizeObserver(([entry]) => {
    if (!entry) return
    const ratio = window.devicePixelRatio || 1
    const exact = entry.devicePixelContentBoxSize?.[0]
    const { width, height } = entry.contentRect
    // The exact box does not reflect a pixel ratio that developer tools simulate.
    const isExact = exact !== undefined && Math.abs(exact.inlineSize - width * ratio) < 2
    resized(isExact ? exact.inlineSize : Math.round(width * ratio), isExact ? exact.blockSize : Math.round(height * ratio), ratio)
  })
  try {
    observer.observe(canvas, { box: "device-pixel-content-box" })
  } catch {
    // Safari does not support this box.
    observer.observe(canvas)
  }

  return () => observer.disconnect()
}
