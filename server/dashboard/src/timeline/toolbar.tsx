import { useRef } from "preact/hooks"
import { Button } from "../shell/parts"
import { Micro } from "./node-store"
import type { Stage } from "./stage"

const spans: readonly [string, number][] = [
  ["1 h", 3600 * Micro],
  ["1 min", 60 * Micro],
  ["1 s", Micro],
  ["10 ms", Micro / 100],
]

interface ToolbarProps {
  stage: Stage
  /** Whether there is a live node to follow. */
  hasLive: boolean
  exportFile: () => void
  importFiles: (files: readonly File[]) => unknown
}

/** Buttons for what wheel and keyboard do, and for loading and saving a file. */
export function Toolbar({ stage, hasLive, exportFile, importFiles }: ToolbarProps) {
  const input = useRef<HTMLInputElement>(null)
  const isFollowing = stage.isFollowing.value
  return (
    <div class="io-toolbar">
      <div class="io-buttons" role="group" aria-label="Zoom">
        <Button label="Zoom out" onClick={() => stage.zoom(1 / 2, 0.5, true)}>
          −
        </Button>
        <Button label="Zoom in" onClick={() => stage.zoom(2, 0.5, true)}>
          +
        </Button>
        <Button onClick={() => stage.showDay()}>24 h</Button>
        {spans.map(([title, span]) => (
          <Button key={title} onClick={() => stage.showSpan(span)}>
            {title}
          </Button>
        ))}
      </div>
      <div class="io-buttons" role="group" aria-label="Time">
        <Button onClick={() => stage.showNow()}>{hasLive ? "Now" : "End"}</Button>
        {hasLive && (
          <Button
            kind={isFollowing ? "normal" : "primary"}
            onClick={() => {
              if (isFollowing) stage.isFollowing.value = false
              else stage.showNow()
            }}
          >
            {isFollowing ? "Pause" : "Follow live"}
          </Button>
        )}
      </div>
      <div class="io-buttons io-file" role="group" aria-label="File">
        <Button onClick={exportFile}>Export</Button>
        <Button onClick={() => input.current?.click()}>Import</Button>
        <input
          ref={input}
          type="file"
          accept=".json,application/json"
          multiple
          hidden
          aria-label="Timeline files to show beside the nodes"
          onChange={async (event) => {
            const files = [...(event.currentTarget.files ?? [])]
            event.currentTarget.value = ""
            await importFiles(files)
          }}
        />
      </div>
    </div>
  )
}
