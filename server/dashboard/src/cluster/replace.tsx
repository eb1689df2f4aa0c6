import { useSignal } from "@preact/signals"
import { manualHref } from "../shell/manual-href"
import { Button, Copyable, Dialog } from "../shell/parts"
import { Join } from "./join"
import type { Member } from "./member"
import { ConfirmChange } from "./member-change"

/** Replaces a member whose machine or card died: removes it, and lets an empty machine join under its name. */
export function Replace({ member, onClose }: { member: Member; onClose: () => void }) {
  const step = useSignal<"choose" | "remove" | "join">("choose")
  const isGone = useSignal(false)
  if (step.value === "remove") {
    return (
      <ConfirmChange
        what="remove"
        member={member}
        onClose={() => {
          step.value = "choose"
        }}
        onDone={() => {
          isGone.value = true
        }}
      />
    )
  }

  if (step.value === "join") return <Join onClose={onClose} />
  return (
    <Dialog title={`Replace ${member.Name}`} onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <p>
        With the playbook, and an empty card under the same name, one command does it. Here <code>rookery_replace</code> names the dead
        member:
      </p>
      <Copyable text={`ansible-playbook rookery.cluster.replace_node -e rookery_replace=${member.Name}`} />
      <p>By hand, in two steps:</p>
      <ol class="steps">
        <li>
          <Button
            kind="danger"
            disabled={isGone.value}
            onClick={() => {
              step.value = "remove"
            }}
          >
            {isGone.value ? `${member.Name} is removed` : `Remove ${member.Name}`}
          </Button>
        </li>
        <li>
          <Button
            disabled={!isGone.value}
            onClick={() => {
              step.value = "join"
            }}
          >
            Create a token for the new one
          </Button>
        </li>
      </ol>
      <p class="quiet">
        If its data are on a separate disk that works, the member need not be replaced.{" "}
        <a href={manualHref("/help/how-to/replace-a-node.md")}>More in the manual</a>
      </p>
    </Dialog>
  )
}
