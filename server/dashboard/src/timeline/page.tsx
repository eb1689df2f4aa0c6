import { signal, useComputed, useSignal, useSignalEffect } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { bytes } from "../shell/format"
import { live } from "../shell/live"
import { Button, ErrorSentence } from "../shell/parts"
import { route } from "../shell/route"
import { session } from "../shell/session"
import { Axis } from "./axis"
import type { Chooser } from "./chooser"
import { fromFile, toFile } from "./file-form"
import { keyWords } from "./keys"
import { Legend } from "./legend"
import { LiveSource } from "./live-source"
import { Micro, NodeStore } from "./node-store"
import { slowestIn } from "./slowest"
import { type SlowestRow, SlowestTable } from "./slowest-table"
import { Stage } from "./stage"
import { Strip } from "./strip"
import { Toolbar } from "./toolbar"
import { Track } from "./track"
import { NarrowestMicroseconds, WidestMicroseconds } from "./view"
import "./timeline.css"
import { manualHref } from "../shell/manual-href"

const MostSlowest = 20
/** Maximum number of nodes that are shown initially. Each shown node gets a request a second. */
const NodesAtFirst = 3
const MostFileBytes = 256 * 1024 * 1024

interface Shown {
  store: NodeStore
  source?: LiveSource
  fileName?: string
}

export function TimelinePage() {
  const stageRef = useRef<Stage | undefined>(undefined)
  stageRef.current ??= new Stage()
  const stage = stageRef.current
  const choosers = useRef(new Map<NodeStore, Chooser>())
  const lives = useSignal<readonly Shown[]>([])
  const files = useSignal<readonly Shown[]>([])
  const off = useSignal<ReadonlySet<string> | null>(null)
  const trouble = useSignal<unknown>(null)
  const revision = useRef(signal(0)).current
  const slowest = useSignal<readonly SlowestRow[]>([])
  const tags = useComputed(() => live.value?.Nodes.map((node) => node.Tag).join(" ") || session.value?.NodeTag || "")
  const isOff = (tag: string, at: number) => off.value?.has(tag) ?? at >= NodesAtFirst
  const shown = useComputed(() => [...lives.value, ...files.value])
  const stores = useComputed(() => shown.value.map((entry) => entry.store))

  const look = () => {
    const { view } = stage
    for (const { source } of shown.peek()) void source?.want(view, view.span / stage.width)
    slowest.value = shown
      .peek()
      .flatMap(({ store }, place) =>
        slowestIn(store, stage.shown, view.from, view.from + view.span, MostSlowest).map((event) => ({
          ...event,
          node: store.name || store.tag,
          place,
          show: () => choosers.current.get(store)?.show(event),
        })),
      )
      .sort((one, other) => other.duration - one.duration)
      .slice(0, MostSlowest)
  }

  useSignalEffect(() => {
    const wanted = tags.value.split(" ").filter((tag, at) => tag !== "" && !isOff(tag, at))
    const before = lives.peek()
    for (const entry of before) if (!wanted.includes(entry.store.tag)) entry.source?.stop()
    lives.value = wanted.map((tag) => before.find((entry) => entry.store.tag === tag) ?? follow(tag, stage, revision))
  })
  // A removed file may have hundreds of megabytes.
  useSignalEffect(() => {
    const kept = new Set(stores.value)
    stage.keepKnown(kept)
    for (const store of choosers.current.keys()) if (!kept.has(store)) choosers.current.delete(store)
  })
  useSignalEffect(() => stage.standStill(lives.value.length === 0 && files.value.length > 0))
  // Appends each node's live sample once a second, so that the lines reach the current time.
  useSignalEffect(() => {
    for (const node of live.value?.Nodes ?? []) {
      const store = lives.peek().find((entry) => entry.store.tag === node.Tag)?.store
      const sample = node.Sample
      // A node that does not answer reports no name itself.
      if (store && !store.name) store.name = node.Name
      if (!store || !sample || node.State !== "up") continue
      const time = sample.UnixMilliseconds * 1000
      if (store.lines.size === 0 || time > (store.lines.time[store.lines.size - 1] as number)) {
        store.lines.replace([{ time, values: [sample.WriteP99Milliseconds, sample.ReadP99Milliseconds, sample.TemperatureCelsius] }])
      }
    }
  })
  // Handles a link to a time: #/io?at=MICROSECONDS&span=MICROSECONDS.
  useSignalEffect(() => {
    const { query } = route.value
    const at = Number(query.get("at"))
    const span = Number(query.get("span") || 60 * Micro)
    if (!(at > 0) || !(span > 0)) return
    stage.isFollowing.value = false
    stage.go({ from: at - span / 2, span: Math.min(WidestMicroseconds, Math.max(NarrowestMicroseconds, span)) }, false)
  })
  // Not useEffect, whose cleanup runs only after the next frame: that frame would draw on a removed page.
  useLayoutEffect(() => {
    stage.settled = look
    return () => {
      stage.stop()
      for (const entry of lives.peek()) entry.source?.stop()
    }
  }, [])

  const exportFile = () => {
    const now = new Date()
    const content = JSON.stringify(toFile(stores.peek(), now))
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }))
    link.download = `rookery-io-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.json`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }

  const importFiles = async (chosen: readonly File[]) => {
    trouble.value = null
    for (const file of chosen) {
      try {
        if (file.size > MostFileBytes) throw new Error(`It has ${bytes(file.size)}; this page takes ${bytes(MostFileBytes)}.`)
        const read = fromFile(await file.text()).map((store) => ({ store, fileName: file.name }))
        files.value = [...files.value, ...read]
        for (const { store } of read) stage.addKnown(store)
        if (read[0]) goTo(stage, read[0].store)
      } catch (failure) {
        trouble.value = `${file.name}: ${failure instanceof Error ? failure.message : String(failure)}`
      }
    }
  }

  return (
    <div class="stack io-page">
      <div class="title-row">
        <h1>IO timeline</h1>
        <Toolbar stage={stage} hasLive={lives.value.length > 0} exportFile={exportFile} importFiles={importFiles} />
      </div>
      <ErrorSentence of={trouble.value} />
      <section class="panel io-panel" aria-label="Disk work over time">
        <Legend stage={stage}>
          <NodeChoice
            tags={tags.value.split(" ").filter((tag) => tag !== "")}
            isOff={isOff}
            change={(set) => {
              off.value = set
            }}
          />
        </Legend>
        <div class="io-head">
          <Strip stage={stage} stores={stores.value} />
          <Axis stage={stage} />
        </div>
        {shown.value.map((entry) => (
          <Track
            key={entry.fileName ? `file ${entry.fileName} ${entry.store.tag} ${files.value.indexOf(entry)}` : entry.store.tag}
            stage={stage}
            store={entry.store}
            revision={revision}
            ready={(chooser) => choosers.current.set(entry.store, chooser)}
            {...(entry.source ? { trouble: entry.source.trouble } : {})}
            {...(entry.fileName ? { source: `from ${entry.fileName}` } : {})}
            {...(entry.fileName
              ? {
                  actions: (
                    <span class="actions">
                      <Button onClick={() => goTo(stage, entry.store)}>Go there</Button>
                      <Button
                        label={`Remove ${entry.store.name || entry.store.tag} of ${entry.fileName}`}
                        onClick={() => {
                          files.value = files.value.filter((other) => other !== entry)
                        }}
                      >
                        Remove
                      </Button>
                    </span>
                  ),
                }
              : {})}
          />
        ))}
        <details class="io-help">
          <summary>Wheel, fingers and keys</summary>
          <p class="quiet">
            Over a drawing the wheel zooms, and with Shift moves; drag to move, pinch to zoom. A click chooses an event. With the drawing
            focused:
          </p>
          <dl id="io-keys">
            {keyWords.map(([key, does]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <p>
            <a href={manualHref("/help/explanation/io-timeline.md")}>What the timeline shows, and how</a>
          </p>
        </details>
      </section>
      <SlowestTable rows={slowest} />
    </div>
  )
}

function NodeChoice({
  tags,
  isOff,
  change,
}: {
  tags: string[]
  isOff: (tag: string, at: number) => boolean
  change: (off: Set<string>) => void
}) {
  if (tags.length < 2) return null
  return (
    <div class="io-kinds" role="group" aria-label="Nodes that are shown">
      {tags.map((tag, at) => (
        <button
          key={tag}
          type="button"
          class="io-kind"
          aria-pressed={!isOff(tag, at)}
          onClick={() => {
            const off = new Set(tags.filter((other, place) => isOff(other, place) !== (other === tag)))
            change(off)
          }}
        >
          Node {tag}
        </button>
      ))}
    </div>
  )
}

function follow(tag: string, stage: Stage, revision: { value: number }): Shown {
  const store = new NodeStore(tag, "")
  const source = new LiveSource(store, () => {
    stage.addKnown(store, store.covered.last)
    revision.value++
  })
  return { store, source }
}

/** Shows the part of a file with single events; if there is none, the whole file. */
function goTo(stage: Stage, store: NodeStore): void {
  const from = store.covered.first ?? store.oldest
  const to = store.covered.last ?? store.newest
  if (from === undefined || to === undefined) return
  stage.isFollowing.value = false
  const span = Math.max(1000, to - from)
  stage.go({ from: from - span * 0.01, span: span * 1.02 }, false)
}
