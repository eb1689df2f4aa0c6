import type { Stage } from "./stage"

/** Zoom per unit of the wheel: a notch (100 units) zooms by a quarter. */
const ZoomPerUnit = 0.0022
const LineUnits = 20
/** A shorter movement is a click. */
const DragPixels = 3

export interface Pointed {
  x: number
  y: number
}

/**
 * Handles wheel, drag and pinch on an element that spans the time axis. Calls `pointed` with the position of the mouse,
 * or null if the mouse is not on the element, and `clicked` with the position of a click. Returns a function that ends
 * the handling.
 */
export function takeGestures(
  element: HTMLElement,
  stage: Stage,
  pointed: (at: Pointed | null) => void,
  clicked: (at: Pointed) => void,
): () => void {
  const fingers = new Map<number, Pointed>()
  let begun: Pointed | null = null
  let isDrag = false

  const at = (event: MouseEvent): Pointed => {
    const box = element.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }

  const wheel = (event: WheelEvent) => {
    event.preventDefault()
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LineUnits : 1
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) stage.pan((sideways * unit) / element.clientWidth)
    // Browsers report a pinch on a touchpad as a wheel event with Ctrl, in small units.
    else stage.zoom(Math.exp(-event.deltaY * unit * ZoomPerUnit * (event.ctrlKey ? 4 : 1)), at(event).x / element.clientWidth)
  }

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    element.setPointerCapture(event.pointerId)
    fingers.set(event.pointerId, at(event))
    begun = fingers.size === 1 ? at(event) : null
    isDrag = fingers.size > 1
  }

  const move = (event: PointerEvent) => {
    const before = fingers.get(event.pointerId)
    const now = at(event)
    if (!before) {
      pointed(now)
      return
    }

    if (!isDrag && begun && Math.abs(now.x - begun.x) < DragPixels) return
    isDrag = true
    pointed(null)
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1]
    fingers.set(event.pointerId, now)
    const middleBefore = other ? (before.x + other.x) / 2 : before.x
    const middle = other ? (now.x + other.x) / 2 : now.x
    if (other) {
      const apart = Math.max(8, Math.abs(now.x - other.x))
      const apartBefore = Math.max(8, Math.abs(before.x - other.x))
      stage.zoom(apart / apartBefore, middle / element.clientWidth)
    }

    if (middle !== middleBefore) stage.pan((middleBefore - middle) / element.clientWidth)
  }

  const up = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return
    if (!isDrag && event.type === "pointerup") clicked(at(event))
    if (fingers.size === 0) isDrag = false
  }

  const leave = () => pointed(null)
  element.addEventListener("wheel", wheel, { passive: false })
  element.addEventListener("pointerdown", down)
  element.addEventListener("pointermove", move)
  element.addEventListener("pointerup", up)
  element.addEventListener("pointercancel", up)
  element.addEventListener("pointerleave", leave)
  return () => {
    element.removeEventListener("wheel", wheel)
    element.removeEventListener("pointerdown", down)
    element.removeEventListener("pointermove", move)
    element.removeEventListener("pointerup", up)
    element.removeEventListener("pointercancel", up)
    element.removeEventListener("pointerleave", leave)
  }
}
