import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import { useSheet } from "./sheets"

export interface MenuAction {
  /** Unique in its menu. */
  title: string
  /** Called when the action is chosen; `href` leads to a place instead. */
  onClick?: () => unknown
  href?: string
  /** Whether it cannot be undone. Then it is red, and is shown last, below a line. */
  danger?: boolean
  disabled?: boolean
  /** Why it is disabled, or what it does. */
  hint?: string
}

interface MenuProps {
  /** Label for screen readers, with the name of the thing: "Actions on shop". */
  label: string
  actions: readonly (MenuAction | false | null)[]
  /** The button's content; three dots without it. */
  children?: ComponentChildren
}

const Margin = 4

/**
 * A button with a menu of actions, for rows of tables and for rare actions. Arrow keys, Home, End and first letters
 * move in the menu, Enter and Space choose; Escape, a click elsewhere and "Back" close it. Then the focus returns to
 * the button if it was in the menu.
 */
export function Menu({ label, actions, children }: MenuProps) {
  const isOpen = useSignal(false)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const close = () => {
    // Otherwise the focus would be lost with its entry, and the next Tab would begin at the top of the page.
    if (list.current?.contains(document.activeElement)) button.current?.focus({ preventScroll: true })
    isOpen.value = false
  }
  const leave = useSheet(close, isOpen.value)
  const known = actions.filter((action): action is MenuAction => Boolean(action))
  const shown = [...known.filter((action) => !action.danger), ...known.filter((action) => action.danger)]
  const items = () => [...(list.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]

  useLayoutEffect(() => {
    const [box, menu] = [button.current, list.current]
    if (!isOpen.value || !box || !menu) return
    // Shown in the browser's top layer, where no scrolling table cuts it off.
    menu.showPopover()
    const { bottom, right, top } = box.getBoundingClientRect()
    const { width, height } = menu.getBoundingClientRect()
    const isAbove = bottom + height + Margin > innerHeight && top > height
    menu.style.left = `${Math.max(Margin, Math.min(right - width, innerWidth - width - Margin))}px`
    menu.style.top = `${isAbove ? top - height - Margin : bottom + Margin}px`
    items()[0]?.focus()
    const end = () => close()
    addEventListener("scroll", end, { capture: true, once: true, passive: true })
    addEventListener("resize", end, { once: true })
    return () => {
      removeEventListener("scroll", end, { capture: true })
      removeEventListener("resize", end)
    }
  }, [isOpen.value])

  if (shown.length === 0) return null
  const choose = (action: MenuAction) => {
    button.current?.focus()
    close()
    void action.onClick?.()
  }
  const move = (event: KeyboardEvent) => {
    const all = items()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      all[(to + all.length) % all.length]?.focus()
    } else if (event.key === "Tab" || event.key === "Escape") {
      if (event.key === "Escape") event.preventDefault()
      button.current?.focus()
      close()
    } else if (event.key === " " && document.activeElement instanceof HTMLAnchorElement) {
      // A browser does not follow a link at Space, but scrolls the page.
      event.preventDefault()
      document.activeElement.click()
    } else if (event.key.length === 1 && event.key !== " ") {
      const letter = event.key.toLowerCase()
      const begins = (item: HTMLElement) => item.innerText.trim().toLowerCase().startsWith(letter)
      ;[...all.slice(at + 1), ...all].find(begins)?.focus()
    }
  }
  return (
    <span class="menu">
      <button
        ref={button}
        type="button"
        class={`button ${children ? "" : "plain dots"}`}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return
          event.preventDefault()
          isOpen.value = true
        }}
      >
        {children ?? <span aria-hidden="true">⋯</span>}
      </button>
      {isOpen.value && (
        // Not "auto": the browser would close the menu at a press on the button, and its click would open it again.
        <div
          ref={list}
          id={id}
          role="menu"
          aria-label={label}
          class="menu-list"
          popover="manual"
          onKeyDown={move}
          onFocusOut={(event) => {
            const to = event.relatedTarget as Node | null
            if (!list.current?.contains(to) && to !== button.current) close()
          }}
        >
          {shown.map((action, at) => (
            <Entry
              key={action.title}
              action={action}
              isFirstDanger={Boolean(action.danger) && !shown[at - 1]?.danger && at > 0}
              choose={choose}
              onFollow={(href) => {
                leave(href)
                close()
              }}
            />
          ))}
        </div>
      )}
    </span>
  )
}

interface EntryProps {
  action: MenuAction
  isFirstDanger: boolean
  choose: (action: MenuAction) => void
  onFollow: (href: string) => void
}

function Entry({ action, isFirstDanger, choose, onFollow }: EntryProps) {
  const look = `${action.danger ? "danger" : ""} ${isFirstDanger ? "apart" : ""}`
  const hint = action.hint ? { title: action.hint } : {}
  return action.href !== undefined ? (
    <a
      role="menuitem"
      tabIndex={-1}
      class={look}
      href={action.href}
      onClick={(event) => {
        // A link that is opened in another tab leaves the menu open.
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        // Replaces the menu's entry in the browser's history, so that "Back" leads to this page at once.
        event.preventDefault()
        if (action.href !== undefined) onFollow(action.href)
      }}
      {...hint}
    >
      {action.title}
    </a>
  ) : (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      class={look}
      aria-disabled={action.disabled ? "true" : "false"}
      onClick={() => {
        if (!action.disabled) choose(action)
      }}
      {...hint}
    >
      {action.title}
    </button>
  )
}
