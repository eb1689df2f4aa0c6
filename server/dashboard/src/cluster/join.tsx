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
              Create the token
            </Button>
          )}
        </>
      }
    >
      {token ? (
        <>
          <p>
            With this token <strong>one</strong> node can join, until {moment(token.Expires)}. Anyone who has it can join: keep it secret.
          </p>
          <QrPicture text={token.Token} label="The token as a QR code" />
          <Copyable text={token.Token} />
          <p>On the new node, stop the service, run this with an empty data directory, and start the service again:</p>
          <Copyable text={`sudo rookery cluster join ${token.Token} --data /var/lib/rookery/data`} />
          <p class="quiet">The node appears here as a learner, receives all data, and votes when it has caught up.</p>
        </>
      ) : (
        <>
          <p>
            A new node joins with a token that this cluster creates. If the playbook installed your nodes, add the new one to the inventory
            and run <code>ansible-playbook rookery.cluster.site</code> instead.
          </p>
          <div>
            The token is valid for{" "}
            <Choice
              label="How long the token is valid"
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
        <a href={manualHref("/help/reference/joining.md")}>Why a join fails, and what to do</a>
      </p>
    </Dialog>
  )
}
