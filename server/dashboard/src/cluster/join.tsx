import { useSignal } from "@preact/signals"
import { moment } from "../shell/format"
import { manualHref } from "../shell/manual-href"
import { Button, Choice, Copyable, Dialog, ErrorSentence } from "../shell/parts"
import { ask } from "../shell/request"
import { QrPicture } from "./qr-picture"

interface JoinToken {
  Token: string
  Expires: string
  Cluster: string
}

const lives = [
  { value: 900, title: "15 minutes" },
  { value: 3600, title: "1 hour" },
  { value: 86_400, title: "1 day" },
]

/** Creates a token with which one node can join, and shows it as text and as a QR code. */
export function Join({ onClose }: { onClose: () => void }) {
  const life = useSignal(3600)
  const made = useSignal<JoinToken | null>(null)
  const trouble = useSignal<unknown>(null)
  const make = async () => {
    trouble.value = null
    try {
      made.value = await ask<JoinToken>("/admin/cluster/tokens", { method: "POST", body: { LifetimeSeconds: life.value } })
    } catch (failure) {
      trouble.value = failure
    }
  }
  const token = made.value
  return (
    <Dialog
      title="Add a node"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{token ? "Done" : "Cancel"}</Button>
          {!token && (
            <Button kind="primary" onClick={make}>
              Make the token
            </Button>
          )}
        </>
      }
    >
      {token ? (
        <>
          <p>
            It lets <strong>one</strong> node in, until {moment(token.Expires)}. Whoever has it may join: keep it to yourself.
          </p>
          <QrPicture text={token.Token} label="The token as a QR code" />
          <Copyable text={token.Token} />
          <p>On the new node, with an empty data directory and its service stopped; then start it:</p>
          <Copyable text={`sudo rookery cluster join ${token.Token} --data /var/lib/rookery/data`} />
          <p class="quiet">It appears here as a learner, receives all data, and votes when it has caught up.</p>
        </>
      ) : (
        <>
          <p>
            A new node shows a token that this cluster made. If your nodes came by the playbook, add it to the inventory and run{" "}
            <code>ansible-playbook rookery.cluster.site</code> instead.
          </p>
          <div>
            The token holds for{" "}
            <Choice
              label="How long the token holds"
              options={lives}
              chosen={life.value}
              onChoose={(value) => {
                life.value = value
              }}
            />
          </div>
        </>
      )}
      <ErrorSentence of={trouble.value} />
      <p class="quiet">
        <a href={manualHref("/help/reference/joining.md")}>What keeps a node out, and what helps</a>
      </p>
    </Dialog>
  )
}
