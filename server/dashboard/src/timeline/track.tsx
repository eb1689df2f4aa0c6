import { type Signal, useComputed, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { count } from "../shell/format"
import { Chooser } from "./chooser"
import { whenResized } from "./fitted"
import { type Found, type FoundEvent, findIn, linesOf, sentenceOf } from "./found"
import { type Pointed, takeGestures } from "./gestures"
import { takeKey } from "./keys"
import { kinds } from "./kinds"
import type { NodeStore } from "./node-store"
import type { Stage } from "./stage"
import { LaneHeight, LinesHeight, TrackCanvas } from "./track-canvas"

interface TrackProps {
  stage: Stage
  store: NodeStore
  /** Name of the file if it is not a live node. */
  source?: string
  trouble?: Signal<string>
  /** Increases when the store has new data. */
  revision: Signal<number>
  actions?: ComponentChildren
  /** Called with the object that can show an event. */
  ready?: (chooser: Chooser) => void
}

/**
 * One node on the shared time axis: its name and devices, the names of its lanes, the drawing, and the selected event.
 */
export function Track({ stage, store, source, trouble, revision, actions, ready }: TrackProps) {
  const id = useId()
  const plot = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const chooserRef = useRef<Chooser | undefined>(undefined)
  chooserRef.current ??= new Chooser(store, stage)
  const chooser = chooserRef.current
  const found = useSignal<{ of: Found; x: number; y: number } | null>(null)
  const shown = useComputed(() => kinds.map((_, index) => index).filter((index) => !stage.hidden.value.has(index)))
  const said = useComputed(() => (chooser.chosen.value ? sentenceOf(foundOf(chooser.chosen.value)) : ""))

  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement
    const surface = plot.current as HTMLDivElement
    const track = new TrackCanvas(element, store)
    let pointer: Pointed | null = null
    const look = () => {
      const next = pointer ? find(track, stage, store, pointer) : null
      const before = found.value
      if (next === null || pointer === null) {
        if (before) found.value = null
      } else if (
        !before ||
        before.of.start !== next.start ||
        before.of.kind !== next.kind ||
        before.x !== pointer.x ||
        before.y !== pointer.y
      ) {
        found.value = { of: next, x: pointer.x, y: pointer.y }
      }
    }
    const drawing = () => {
      place(frame.current, chooser, stage, surface.clientWidth)
      look()
    }
    const unfit = whenResized(element, (width, height, ratio) => {
      track.resize(width, height, ratio)
      stage.request()
    })
    const untake = takeGestures(
      surface,
      stage,
      (at) => {
        pointer = at
        look()
      },
      (at) => {
        const event = find(track, stage, store, at)
        chooser.choose(event && !event.isSum ? event : null)
        stage.request()
      },
    )
    stage.tracks.add(track)
    stage.drawings.add(drawing)
    stage.request()
    ready?.(chooser)
    return () => {
      stage.tracks.delete(track)
      stage.drawings.delete(drawing)
      unfit()
      untake()
    }
  }, [stage, store])

  return (
    <section class="io-track" aria-labelledby={id}>
      <header>
        <TrackWords id={id} store={store} revision={revision} source={source ?? ""} />
        {trouble?.value && (
          <p class="io-trouble" role="status">
            {trouble.value}
          </p>
        )}
        {actions}
      </header>
      <div class="io-rows">
        <div class="io-names" aria-hidden="true">
          <div class="io-line-names">
            <span class="io-line-0">write p99</span>
            <span class="io-line-1">read p99</span>
            <span class="io-line-2">temperature</span>
          </div>
          {shown.value.map((kind) => (
            <div key={kind} class={`io-name ${chooser.lane.value === kind ? "is-chosen" : ""}`} title={kinds[kind]?.title}>
              {kinds[kind]?.short}
            </div>
          ))}
        </div>
        <div
          ref={plot}
          class="io-plot"
          tabIndex={0}
          role="application"
          aria-roledescription="timeline"
          aria-label={`Disk work of ${store.name || store.tag}`}
          aria-describedby="io-keys"
          style={{ height: `${LinesHeight + LaneHeight * shown.value.length}px` }}
          onKeyDown={(event) => takeKey(event, stage, chooser)}
        >
          <canvas ref={canvas} aria-hidden="true" />
          <div ref={frame} class="io-chosen" hidden />
          {found.value && <Tip of={found.value.of} x={found.value.x} y={found.value.y} width={plot.current?.clientWidth ?? 0} />}
        </div>
      </div>
      <p class="io-said" aria-live="polite">
        {said.value}
      </p>
    </section>
  )
}

/** The node's name, devices and number of events. A separate component, because the number changes once a second. */
function TrackWords({ id, store, revision, source }: { id: string; store: NodeStore; revision: Signal<number>; source: string }) {
  // Read only so that the component is rendered again when the value changes.
  void revision.value
  const { Journal, Data } = store.devices
  const devices = Journal === Data ? (Journal === "unknown" ? "device unknown" : Journal) : `journal on ${Journal}, data on ${Data}`
  return (
    <>
      <h2 id={id}>
        {store.name || store.tag} <span class="quiet">{store.name ? store.tag : ""}</span>
      </h2>
      <p class="quiet">
        {source ? `${source} · ` : ""}
        {devices} · {count(store.eventCount)} events
      </p>
    </>
  )
}

function Tip({ of, x, y, width }: { of: Found; x: number; y: number; width: number }) {
  const isLeft = x > width / 2
  const sides = isLeft ? { left: "auto", right: `${width - x + 14}px` } : { left: `${x + 14}px`, right: "auto" }
  return (
    <div class="io-tip" style={{ ...sides, top: `${y + 16}px` }}>
      <dl>
        {linesOf(of).map(([label, value], index) => (
          <div key={label} class={index === 0 ? "io-tip-title" : ""}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function find(track: TrackCanvas, stage: Stage, store: NodeStore, at: Pointed): Found | null {
  const place = track.laneAt(at.y, stage.shown.length)
  const kind = stage.shown[place]
  const lane = kind === undefined ? undefined : track.lanes[kind]
  if (kind === undefined || !lane || lane.width === 0) return null
  const isLow = (at.y - LinesHeight) % LaneHeight > LaneHeight / 2
  const column = Math.max(0, Math.min(lane.width - 1, Math.floor(at.x * track.pixelRatio)))
  return findIn(store, lane, kind, column, isLow, stage.view.from, stage.view.span / lane.width, track.pixelRatio)
}

/** Moves the frame to the chosen event. */
function place(frame: HTMLElement | null, chooser: Chooser, stage: Stage, width: number): void {
  if (!frame) return
  const event = chooser.chosen.peek()
  const row = event ? stage.shown.indexOf(event.kind) : -1
  const left = event ? ((event.start - stage.view.from) / stage.view.span) * width : 0
  const wide = event ? Math.max(3, (event.duration / stage.view.span) * width) : 0
  const isOut = row < 0 || left > width || left + wide < 0
  if (frame.hidden !== isOut) frame.hidden = isOut
  if (isOut) return
  const first = Math.max(-4, left)
  frame.style.transform = `translate(${first - 3}px, ${LinesHeight + row * LaneHeight - 3}px)`
  frame.style.width = `${Math.min(width + 8, left + wide) - first + 6}px`
}

function foundOf(event: FoundEvent): Found {
  return { ...event, count: 1, isSum: false, busy: 1 }
}
