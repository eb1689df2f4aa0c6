import { useEffect, useRef } from "preact/hooks"

interface CompletionListProps {
  id: string
  options: readonly { label: string; kind: string; detail?: string }[]
  active: number
  top: number
  left: number
  onAccept: (at: number) => void
}

const Width = 300

/** The list of completions at the caret. Arrow keys select while the focus stays in the text. */
export function CompletionList({ id, options, active, top, left, onAccept }: CompletionListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }, [active])
  const room = (list.current?.parentElement?.clientWidth ?? 1000) - Width - 60
  return (
    <ul
      ref={list}
      id={id}
      role="listbox"
      aria-label="Completions"
      class="completions"
      hidden={options.length === 0}
      style={{ top: `${top}px`, left: `${Math.max(0, Math.min(left, room)) + 48}px` }}
    >
      {options.map((option, at) => (
        <li
          key={`${option.kind} ${option.label}`}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === active}
          onMouseDown={(event) => {
            // Keeps the focus in the text.
            event.preventDefault()
            onAccept(at)
          }}
        >
          <span class="completion-label">{option.label}</span>
          <span class="completion-kind">{option.detail ?? option.kind}</span>
        </li>
      ))}
    </ul>
  )
}
