import { useSignal } from "@preact/signals"
import { Copyable } from "../shell/parts"
import { ask } from "../shell/request"
import { AccessForm } from "./access-form"
import { QrPicture } from "./qr-picture"

/** Creates a link for a screen on the wall. It shows the overview and the timeline, and does not allow any change. */
export function Kiosk({ taken, onClose }: { taken: readonly string[]; onClose: () => void }) {
  const name = useSignal(freeName(taken))
  const make = async () => {
    const { Token } = await ask<{ Token: string }>("/admin/access/tokens", {
      method: "POST",
      body: { Name: name.value.trim(), Scopes: ["metrics"] },
    })
    return `${location.origin}/#kiosk=${Token}`
  }
  return (
    <AccessForm
      title="Kiosk link"
      verb="Create the link"
      name={name}
      label="Name of its token"
      intro={
        <p>
          For a screen on the wall or a phone of the family: everyone who has the link sees the overview and the IO timeline, but no
          documents, and can change nothing.
        </p>
      }
      make={make}
      show={(link) => ({
        title: "Kiosk link",
        done: "Done",
        content: (
          <>
            <p>
              Open the link on the screen, or point its camera here. It is shown <strong>this once</strong>. To end the access, revoke the
              token {name.value}.
            </p>
            <QrPicture text={link} label="The link as a QR code" />
            <Copyable text={link} />
          </>
        ),
      })}
      onClose={onClose}
    />
  )
}

function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? "kiosk" : `kiosk-${number}`
    if (!taken.includes(name)) return name
  }
}
