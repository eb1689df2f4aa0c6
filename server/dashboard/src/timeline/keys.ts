import type { Chooser } from "./chooser"
import type { Stage } from "./stage"

const PanPart = 0.15
const ZoomStep = 1.6

/** The keys and their descriptions for the user. */
export const keyWords: readonly [string, string][] = [
  ["← →", "move; with Shift a whole width"],
  ["+ −", "zoom in and out"],
  ["Home End", "a day; now"],
  ["Space", "pause, or follow live"],
  ["↑ ↓", "choose a lane"],
  [", .", "event before, after"],
  ["p n", "slow sync before, after"],
  ["Enter", "zoom into the chosen event"],
  ["Esc", "end the choice"],
]

/** Handles a key; returns false if the key has no function here. */
export function takeKey(event: KeyboardEvent, stage: Stage, chooser: Chooser): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  const action = actionOf(event, stage, chooser)
  if (!action) return false
  event.preventDefault()
  action()
  return true
}

function actionOf(event: KeyboardEvent, stage: Stage, chooser: Chooser): (() => void) | undefined {
  const part = event.shiftKey ? 1 : PanPart
  switch (event.key) {
    case "ArrowLeft":
      return () => stage.pan(-part, true)
    case "ArrowRight":
      return () => stage.pan(part, true)
    case "ArrowUp":
      return () => chooser.changeLane(-1)
    case "ArrowDown":
      return () => chooser.changeLane(1)
    case "+":
    case "=":
      return () => stage.zoom(ZoomStep, placeOf(stage, chooser), true)
    case "-":
    case "−":
      return () => stage.zoom(1 / ZoomStep, placeOf(stage, chooser), true)
    case "Home":
      return () => stage.showDay()
    case "End":
      return () => stage.showNow()
    case " ":
      return () => {
        if (stage.isFollowing.value) stage.isFollowing.value = false
        else stage.showNow()
      }
    case ",":
      return () => chooser.step(-1)
    case ".":
      return () => chooser.step(1)
    case "n":
      return () => chooser.stepSlow(1)
    case "p":
      return () => chooser.stepSlow(-1)
    case "Enter":
      return () => chooser.enter()
    case "Escape":
      return chooser.chosen.value ? () => chooser.choose(null) : undefined
    default:
      return undefined
  }
}

/** Returns the place to zoom into: the chosen event, otherwise the middle. */
function placeOf(stage: Stage, chooser: Chooser): number {
  const event = chooser.chosen.value
  const place = event ? (event.start + event.duration / 2 - stage.view.from) / stage.view.span : 0.5
  return place >= 0 && place <= 1 ? place : 0.5
}
