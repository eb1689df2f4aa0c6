import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { moment } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, Empty, ErrorSentence, Field } from "../shell/parts"
import { ask } from "../shell/request"
import { chosenNode, NodeField } from "./node-field"
import "./node.css"

interface LogLine {
  Sequence: number
  Time: string
  Level: "information" | "warning" | "error"
  EventId: number
  Text: string
}

const MostKept = 2000
const FollowMilliseconds = 2000
const levels = ["information", "warning", "error"]

/** The page with a node's log, newest lines last. It works without a leader and without open data. */
export function LogsPage() {
  const node = chosenNode()
  return <Logs key={node} node={node} />
}

function Logs({ node }: { node: string }) {
  const lines = useSignal<LogLine[] | null>(null)
  const trouble = useSignal<unknown>(null)
  const follows = useSignal(true)
  const least = useSignal("information")
  const wanted = useSignal("")
  const list = useRef<HTMLOListElement>(null)
  const leaving = useLeaving()
  const reading = useRef<Promise<void> | null>(null)
  // One request at a time: two with the same number would append the same lines twice.
  const read = () => {
    reading.current ??= readMore().finally(() => {
      reading.current = null
    })
    return reading.current
  }
  const readMore = async () => {
    const after = lines.value?.at(-1)?.Sequence
    try {
      const query = new URLSearchParams({
        ...(node ? { node } : {}),
        ...(after === undefined ? {} : { after: String(after) }),
        limit: String(MostKept),
      })
      const { Lines } = await ask<{ Lines: LogLine[] }>(`/admin/logs?${query}`, { signal: leaving })
      // A restarted node numbers its lines from 1 again, and answers with the last ones.
      const last = Lines.at(-1)
      const isAnew = after !== undefined && last !== undefined && last.Sequence <= after
      if (Lines.length > 0 || lines.value === null) lines.value = [...(isAnew ? [] : (lines.value ?? [])), ...Lines].slice(-MostKept)
      trouble.value = null
    } catch (failure) {
      if (!leaving.aborted) trouble.value = failure
    }
  }
  useEffect(() => {
    void read()
    const timer = setInterval(() => {
      if (follows.value && !document.hidden) void read()
    }, FollowMilliseconds)
    return () => clearInterval(timer)
  }, [])
  const text = wanted.value.trim().toLowerCase()
  const from = levels.indexOf(least.value)
  const shown = (lines.value ?? []).filter(
    (line) => levels.indexOf(line.Level) >= from && (text === "" || line.Text.toLowerCase().includes(text)),
  )
  useEffect(() => {
    if (follows.value) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [shown.length, follows.value])
  return (
    <div class="stack">
      <h1>Logs</h1>
      <section class="panel stack" aria-label="Lines">
        <div class="log-tools">
          <NodeField />
          <Field label="Level">
            <select
              class="input"
              value={least.value}
              onChange={(event) => {
                least.value = event.currentTarget.value
              }}
            >
              <option value="information">everything</option>
              <option value="warning">warnings and errors</option>
              <option value="error">errors</option>
            </select>
          </Field>
          <div class="search">
            <Field label="With the text">
              <input
                class="input"
                type="search"
                value={wanted.value}
                onInput={(event) => {
                  wanted.value = event.currentTarget.value
                }}
              />
            </Field>
          </div>
          <Button
            kind={follows.value ? "normal" : "primary"}
            onClick={() => {
              follows.value = !follows.value
              if (follows.value) return read()
            }}
          >
            {follows.value ? "Stop following" : "Follow"}
          </Button>
        </div>
        <ErrorSentence of={trouble.value} retry={read} />
        {lines.value === null ? null : shown.length === 0 ? (
          <Empty title="No such lines.">{lines.value.length > 0 && `${lines.value.length} other lines are in memory.`}</Empty>
        ) : (
          <ol
            class="log-lines"
            ref={list}
            tabIndex={0}
            aria-label="Log"
            onScroll={(event) => {
              // Stop following if the user scrolls up.
              const at = event.currentTarget
              if (follows.value && at.scrollHeight - at.scrollTop - at.clientHeight > 80) follows.value = false
            }}
          >
            {shown.map((line) => (
              <li key={line.Sequence} class={line.Level} title={`Event ${line.EventId}`}>
                <time dateTime={line.Time}>{moment(line.Time)}</time>
                <span class="level">{line.Level === "information" ? "info" : line.Level}</span>
                <span class="text">
                  <Marked text={line.Text} wanted={text} />
                </span>
              </li>
            ))}
          </ol>
        )}
        <p class="quiet small number">
          {shown.length} of {lines.value?.length ?? 0} lines. A node keeps its last {MostKept.toLocaleString("en")} in memory;{" "}
          <code>journalctl -u rookery</code> on its machine has more.
        </p>
      </section>
    </div>
  )
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted === "" ? -1 : text.toLowerCase().indexOf(wanted)
  if (at < 0) return <>{text}</>
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  )
}
