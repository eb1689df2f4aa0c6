import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { CodeLines, lineStartsOf } from "./code-lines"
import { CompletionList } from "./completion-list"
import type { Highlighter } from "./highlight"
import { placeOf } from "./json-text"
import "./code-colours.css"
import "./code-editor.css"

/** The completions at the caret. Each replaces the text between `from` and `to`. */
export interface Offer {
  from: number
  to: number
  options: { label: string; insert: string; kind: string; detail?: string }[]
}

interface CodeEditorProps {
  /** Label for screen readers. */
  label: string
  value: string
  onInput?: (value: string) => void
  highlight: Highlighter
  /** Position of an error. */
  wrongAt?: number | null
  /** Id of the element with the error message, for screen readers. */
  describedBy?: string
  complete?: (text: string, caret: number) => Offer | null
  /** Called at Ctrl+S. */
  onSave?: () => unknown
  /** Called at Ctrl+Enter. */
  onRun?: () => unknown
  readOnly?: boolean
  /** Minimum and maximum height in lines. */
  lines?: [number, number]
  /** Whether the editor is as high as the window allows. */
  tall?: boolean
}

/**
 * A textarea with line numbers and colours. All editing is the browser's own (undo, search, touch, screen readers). The
 * coloured text is drawn below the transparent text of the textarea, for the visible lines only, so that documents of
 * megabytes can be edited too. Tab moves to the next control.
 */
export function CodeEditor(props: CodeEditorProps) {
  const {
    label,
    value,
    onInput,
    highlight,
    wrongAt = null,
    describedBy,
    readOnly = false,
    lines: [least, most] = [3, 24],
    tall = false,
  } = props
  const area = useRef<HTMLTextAreaElement>(null)
  const probe = useRef<HTMLSpanElement>(null)
  const view = useSignal({ top: 0, left: 0, height: 400 })
  const measure = useSignal({ line: 20, character: 8 })
  const offer = useSignal<(Offer & { active: number; caret: number }) | null>(null)
  const starts = useMemo(() => lineStartsOf(value), [value])

  useLayoutEffect(() => {
    const shown = probe.current?.getBoundingClientRect()
    if (shown && shown.width > 0) measure.value = { line: shown.height, character: shown.width / 10 }
  }, [])
  useEffect(() => {
    const at = area.current
    if (!at) return
    const look = () => {
      view.value = { top: at.scrollTop, left: at.scrollLeft, height: at.clientHeight }
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(at)
    return () => observer.disconnect()
  }, [])

  const isTyping = useRef(false)
  const suggest = (text: string, isAsked: boolean) => {
    const at = area.current
    if (!at || !props.complete || at.selectionStart !== at.selectionEnd) return
    const caret = at.selectionStart
    const found = props.complete(text, caret)
    // Without a typed letter, complete only on request (Ctrl+Space).
    if (!found || (!isAsked && found.from === caret)) {
      offer.value = null
      return
    }

    const isWhole = found.options[0]?.insert.toLowerCase() === text.slice(found.from, caret).toLowerCase()
    offer.value = { ...found, caret, active: isWhole ? -1 : 0 }
  }

  // Names that become known while the user types are offered at once, not at the next key.
  useEffect(() => {
    const at = area.current
    if (at && isTyping.current && !offer.peek() && document.activeElement === at) suggest(at.value, false)
  }, [props.complete])

  const accept = (at: number) => {
    const option = offer.value?.options[at]
    if (!offer.value || !option || !area.current) return
    const { from, to } = offer.value
    offer.value = null
    replace(area.current, from, to, option.insert)
    isTyping.current = false
  }

  const onKeyDown = (event: KeyboardEvent) => {
    const at = area.current
    if (!at) return
    // A key that types nothing (an arrow, Escape, Ctrl+Enter) ends the word, with or without an open list.
    isTyping.current = false
    if (offer.value && steer(event)) return
    const isControl = event.ctrlKey || event.metaKey
    if (isControl && event.key === "s" && props.onSave) {
      event.preventDefault()
      void props.onSave()
    } else if (isControl && event.key === "Enter" && props.onRun) {
      event.preventDefault()
      offer.value = null
      void props.onRun()
    } else if (isControl && event.key === " " && props.complete) {
      event.preventDefault()
      suggest(at.value, true)
    } else if (event.key === "Enter" && !isControl && !event.shiftKey && !event.altKey && !readOnly && !event.isComposing) {
      event.preventDefault()
      breakLine(at)
    }
  }

  /** Handles a key while the list is open; returns true if the list used it. */
  const steer = (event: KeyboardEvent): boolean => {
    const open = offer.value
    if (!open) return false
    const count = open.options.length
    if (event.key === "ArrowDown") offer.value = { ...open, active: (open.active + 1) % count }
    else if (event.key === "ArrowUp") offer.value = { ...open, active: (open.active - 1 + count) % count }
    else if (event.key === "Escape") offer.value = null
    else if ((event.key === "Enter" || event.key === "Tab") && open.active >= 0 && !event.ctrlKey && !event.metaKey) accept(open.active)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const shownLines = Math.min(Math.max(starts.length, least), most)
  const { line, character } = measure.value
  const caretPlace = offer.value ? placeOf(value, offer.value.from) : null
  const listId = `${label.replace(/\W+/g, "-")}-offers`
  return (
    <div
      class={`code-editor ${tall ? "tall" : ""} ${readOnly ? "read-only" : ""}`}
      style={tall ? {} : { height: `${shownLines * line + 28}px` }}
    >
      <span ref={probe} class="code-probe" aria-hidden="true">
        0000000000
      </span>
      <CodeLines value={value} starts={starts} highlight={highlight} wrongAt={wrongAt} view={view.value} line={line} />
      <textarea
        ref={area}
        aria-label={label}
        value={value}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        readOnly={readOnly}
        {...(describedBy ? { "aria-describedby": describedBy } : {})}
        {...(wrongAt === null ? {} : { "aria-invalid": "true" })}
        {...(props.complete ? { "aria-autocomplete": "list", "aria-controls": listId } : {})}
        {...(offer.value && offer.value.active >= 0 ? { "aria-activedescendant": `${listId}-${offer.value.active}` } : {})}
        onInput={(event) => {
          isTyping.current = true
          onInput?.(event.currentTarget.value)
          suggest(event.currentTarget.value, false)
        }}
        onKeyDown={onKeyDown}
        // A press moves the caret, which ends the word.
        onPointerDown={() => {
          isTyping.current = false
        }}
        onBlur={() => {
          isTyping.current = false
          offer.value = null
        }}
        onScroll={(event) => {
          const at = event.currentTarget
          view.value = { top: at.scrollTop, left: at.scrollLeft, height: at.clientHeight }
          offer.value = null
        }}
      />
      {props.complete && (
        <CompletionList
          id={listId}
          options={offer.value?.options ?? []}
          active={offer.value?.active ?? -1}
          top={caretPlace ? caretPlace.line * line - view.value.top + 8 : 0}
          left={caretPlace ? (caretPlace.column - 1) * character - view.value.left : 0}
          onAccept={accept}
        />
      )}
    </div>
  )
}

/** Moves the caret of an editor to a position and scrolls to it. */
export function goTo(label: string, at: number): void {
  const area = document.querySelector<HTMLTextAreaElement>(`textarea[aria-label="${CSS.escape(label)}"]`)
  if (!area) return
  area.focus()
  area.setSelectionRange(at, Math.min(at + 1, area.value.length))
  const { line } = placeOf(area.value, at)
  const height = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.scrollTop = Math.max(0, (line - 4) * height)
}

/** Replaces a part of the text as if it were typed, so that the browser can undo it. */
function replace(area: HTMLTextAreaElement, from: number, to: number, text: string): void {
  area.focus()
  area.setSelectionRange(from, to)
  if (document.execCommand("insertText", false, text)) return
  area.setRangeText(text, from, to, "end")
  area.dispatchEvent(new InputEvent("input", { bubbles: true }))
}

/** Starts a new line with the indentation of the previous one, and more after an open bracket. */
function breakLine(area: HTMLTextAreaElement): void {
  const { value, selectionStart: from, selectionEnd: to } = area
  const begin = value.lastIndexOf("\n", from - 1) + 1
  const indent = /^[ \t]*/.exec(value.slice(begin, from))?.[0] ?? ""
  const isOpen = /[{[(]$/.test(value.slice(begin, from).trimEnd())
  const isClosedNext = /^[}\])]/.test(value.slice(to))
  replace(area, from, to, `\n${indent}${isOpen ? "  " : ""}${isOpen && isClosedNext ? `\n${indent}` : ""}`)
  if (isOpen && isClosedNext) {
    const caret = from + 1 + indent.length + 2
    area.setSelectionRange(caret, caret)
  }
}
