/** Tells a canvas' size in device pixels whenever it changes; gives what ends it. */
export function whenResized(canvas: HTMLCanvasElement, resized: (width: number, height: number, ratio: number) => void): () => void {
  const observer = new ResizeObserver(([entry]) => {
    if (!entry) return
    const ratio = window.devicePixelRatio || 1
    const exact = entry.devicePixelContentBoxSize?.[0]
    const { width, height } = entry.contentRect
    // A ratio that is only played (by developer tools) is not in the exact box.
    const isExact = exact !== undefined && Math.abs(exact.inlineSize - width * ratio) < 2
    resized(isExact ? exact.inlineSize : Math.round(width * ratio), isExact ? exact.blockSize : Math.round(height * ratio), ratio)
  })
  try {
    observer.observe(canvas, { box: "device-pixel-content-box" })
  } catch {
    // Safari does not know this box.
    observer.observe(canvas)
  }

  return () => observer.disconnect()
}
