import { useSignal } from "@preact/signals"
import { Button, Copyable, Dialog, ErrorSentence, Field } from "../shell/parts"
import { ask } from "../shell/request"
import { QrPicture } from "./qr-picture"

/** A link for a screen on the wall: it shows overview and timeline, and can change nothing. */
export function Kiosk({ taken, onClose }: { taken: readonly string[]; onClose: () => void }) {
  const name = useSignal(freeName(taken))
  const link = useSignal("")
  const busy = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const make = async () => {
    busy.value = true
    trouble.value = null
    try {
      const { Token } = await ask<{ Token: string }>("/admin/access/tokens", {
        method: "POST",
        body: { Name: name.value.trim(), Scopes: ["metrics"] },
      })
      link.value = `${location.origin}/#kiosk=${Token}`
    } catch (failure) {
      trouble.value = failure
    } finally {
      busy.value = false
    }
  }
  if (link.value) {
    return (
      <Dialog title="Kiosk link" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
        <p>
          Open it on the screen, or point its camera here. It is shown <strong>this once</strong>; withdraw the token {name.value} to end
          it.
        </p>
        <QrPicture text={link.value} label="The link as a QR code" />
        <Copyable text={link.value} />
      </Dialog>
    )
  }

  return (
    <Dialog
      title="Kiosk link"
      onClose={onClose}
      onSubmit={make}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy.value}>
            Make the link
          </Button>
        </>
      }
    >
      <p>
        For a screen on the wall or a phone of the family: who has the link sees the overview and the IO timeline. No documents, no orders.
      </p>
      <Field label="Name of its token">
        <input
          class="input"
          autocomplete="off"
          autocapitalize="off"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
        />
      </Field>
      <ErrorSentence of={trouble.value} />
    </Dialog>
  )
}

function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? "kiosk" : `kiosk-${number}`
    if (!taken.includes(name)) return name
  }
}
