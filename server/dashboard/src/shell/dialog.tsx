import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"

interface DialogProps {
  title: string
  /** Escape, the backdrop, or a button of the caller. The dialog is open while it is rendered. */
  onClose: () => void
  /** With it the dialog is a form, and Enter in a field submits it. */
  onSubmit?: () => unknown
  /** Buttons below: the way out first, the deed last. */
  actions?: ComponentChildren
  wide?: boolean
  children?: ComponentChildren
}

/** A dialog over the page. The browser's own: it keeps the focus inside, closes by Escape, and gives the focus back. */
export function Dialog({ title, onClose, onSubmit, actions, wide = false, children }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      dialog.current?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const content = (
    <>
      <h2 id={id}>{title}</h2>
      {children}
      {actions && <div class="actions">{actions}</div>}
    </>
  )
  return (
    <dialog
      ref={dialog}
      class={`dialog ${wide ? "wide" : ""}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        // The backdrop is the dialog itself; what lies on it is its child.
        if (event.target === dialog.current) onClose()
      }}
    >
      {onSubmit ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void onSubmit()
          }}
        >
          {content}
        </form>
      ) : (
        <div>{content}</div>
      )}
    </dialog>
  )
}
