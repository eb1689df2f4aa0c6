import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { useSheet } from "./sheets"

interface DialogProps {
  title: string
  /** Called at Escape, at a click on the backdrop and at "Back". The dialog is open while it is rendered. */
  onClose: () => void
  /** If set, the dialog is a form, and Enter in a field submits it. */
  onSubmit?: () => unknown
  /** The buttons: cancel first, the action last. */
  actions?: ComponentChildren
  wide?: boolean
  /** Whether only the dialog's buttons close it: it shows what is shown once, or is at work. */
  isHeld?: boolean
  children?: ComponentChildren
}

/** A modal dialog. The browser's element keeps the focus inside, closes at Escape, and restores the focus. */
export function Dialog({ title, onClose, onSubmit, actions, wide = false, isHeld = false, children }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const leave = () => {
    if (!isHeld) onClose()
  }
  useSheet(onClose, true, !isHeld)
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
        leave()
      }}
      onClose={() => {
        // Some browsers do not ask before the second Escape.
        if (isHeld && dialog.current?.isConnected) dialog.current.showModal()
      }}
      onMouseDown={(event) => {
        // A click on the backdrop has the dialog itself as its target.
        if (event.target === dialog.current) leave()
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
