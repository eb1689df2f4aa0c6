import { useSignal } from "@preact/signals"
import { useEffect, useId, useRef } from "preact/hooks"
import { useSheet } from "../shell/sheets"
import { optionId, placeOfChosen } from "./choice"
import { type Item, rank } from "./rank"
import { useItems } from "./sources"
import "./palette.css"

/**
 * The command palette: a field, and below it all places and actions that contain its words. The focus stays in the
 * field; arrow keys choose, Enter goes there.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const text = useSignal("")
  const chosen = useSignal<string | null>(null)
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const leave = useSheet(onClose)
  const groups = rank(useItems(text.value), text.value)
  const items = groups.flatMap((group) => group.items)
  const at = placeOfChosen(items, chosen.value)
  const shown = items[at]?.key

  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      dialog.current?.close()
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus()
    }
  }, [])
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }, [at, text.value])

  const open = (item: Item | undefined) => {
    if (!item) return
    if (item.href === undefined) {
      onClose()
      void item.run?.()
    } else {
      leave(item.href)
      onClose()
    }
  }
  const move = (to: number) => {
    chosen.value = items[(to + items.length) % items.length]?.key ?? null
  }
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Go to"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <input
        class="input"
        type="text"
        role="combobox"
        aria-label="Go to a page, document or action"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(shown === undefined ? {} : { "aria-activedescendant": optionId(id, shown) })}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder="Page, database, document id, help …"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          chosen.value = null
        }}
        onKeyDown={(event) => {
          if (event.isComposing) return
          const step = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, items.length - 1), PageUp: Math.max(at - 8, 0) }[
            event.key
          ]
          if (step !== undefined) move(step)
          else if (event.key === "Enter") open(items[at])
          else return
          event.preventDefault()
        }}
      />
      <div ref={list} id={`${id}-list`} class="palette-list" role="listbox" aria-label="What is found" tabIndex={-1}>
        {groups.map(({ kind, items }) => (
          <div key={kind} role="group" aria-labelledby={`${id}-${kind}`}>
            <div id={`${id}-${kind}`} class="palette-kind" role="presentation">
              {kind}
            </div>
            {items.map((item) => (
              <div
                key={item.key}
                id={optionId(id, item.key)}
                role="option"
                aria-selected={item.key === shown}
                onMouseMove={() => {
                  chosen.value = item.key
                }}
                onClick={() => open(item)}
              >
                <span>{item.title}</span>
                {item.detail && <span class="quiet">{item.detail}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p class="palette-foot quiet" role="status">
        {items.length === 0 ? `Nothing contains "${text.value.trim()}".` : <span class="unseen">{items.length} found</span>}
        {items.length > 0 && <span aria-hidden="true">↑ ↓ to choose, Enter to open, Esc to close</span>}
      </p>
    </dialog>
  )
}
