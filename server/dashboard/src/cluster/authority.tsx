import { type Signal, useSignal } from "@preact/signals"
import { manualHref } from "../shell/manual-href"
import { Button, Confirm, Copyable, ErrorSentence, Panel, Tag, toast, useAsked } from "../shell/parts"
import { ask } from "../shell/request"
import { inCluster, isAlone } from "./alone"
import { offer } from "./offer-file"

interface AuthorityState {
  Authorities: { Subject: string; Sha256: string; Certificate: string }[]
  Rotation?: string
  WaitsFor?: string[]
}

/**
 * The certificate authority that members and clients trust, and its replacement, for example after a card was stolen.
 * First a new authority is created (`rotate`), then the old one is no longer trusted (`retire`).
 */
export function Authority() {
  const { data, trouble, refresh } = useAsked<AuthorityState>(inCluster("/admin/cluster/authority"), 10)
  const asks = useSignal<"rotate" | "retire" | null>(null)
  const state = data.value
  const asked = asks.value
  if (isAlone() !== false) return null
  const isRotating = state?.Rotation !== undefined
  const waits = state?.WaitsFor ?? []
  return (
    <Panel title="Certificate authority" actions={isRotating && <Tag tone="warning">being replaced</Tag>}>
      <ErrorSentence of={trouble.value} retry={refresh} />
      {state && (
        <div class="stack small">
          {state.Authorities.map((authority, at) => (
            <div key={authority.Sha256}>
              <p>
                <strong>{authority.Subject}</strong> {state.Authorities.length > 1 && (at === 0 ? "signs" : "is also trusted")}
              </p>
              <Copyable text={authority.Sha256.toUpperCase().replace(/..(?=.)/g, "$&:")} label="Copy the fingerprint" />
            </div>
          ))}
          {isRotating && (
            <p>
              {waits.length > 0
                ? `The replacement waits for ${waits.join(", ")} (stage ${state.Rotation}). Remove a member that will not come back.`
                : "All members present certificates of both authorities. Give clients the new authority.pem, create their certificates again, and then retire the old authority."}
            </p>
          )}
          <div class="actions">
            <Button onClick={() => offer("authority.pem", state.Authorities.map((authority) => authority.Certificate).join(""))}>
              Download authority.pem
            </Button>
            {isRotating ? (
              <Ask asks={asks} what="retire" text="Retire the old one" disabled={waits.length > 0} />
            ) : (
              <Ask asks={asks} what="rotate" text="Replace it" />
            )}
            <a href={manualHref("/help/reference/joining.md#another-authority")}>More in the manual</a>
          </div>
        </div>
      )}
      {asked && (
        <Confirm
          title={asked === "rotate" ? "Replace the authority?" : "Retire the old authority?"}
          verb={asked === "rotate" ? "Replace it" : "Retire it"}
          danger
          onConfirm={async () => {
            await ask(`/admin/cluster/authority/${asked}`, { method: "POST" })
            toast(
              asked === "rotate"
                ? "A new authority was created. Now the members learn to trust it."
                : "The old authority is no longer trusted.",
              { tone: "good" },
            )
            await refresh()
          }}
          onClose={() => {
            asks.value = null
          }}
        >
          <p>
            {asked === "rotate"
              ? "First all members learn to trust the new authority, then all present certificates of it. Clients can use the old authority until you retire it. A member that is off delays the replacement."
              : "Then clients that trust only the old authority can reach no node, and certificates that it signed are refused."}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}

function Ask({
  asks,
  what,
  text,
  disabled = false,
}: {
  asks: Signal<"rotate" | "retire" | null>
  what: "rotate" | "retire"
  text: string
  disabled?: boolean
}) {
  return (
    <Button
      kind="danger"
      disabled={disabled}
      onClick={() => {
        asks.value = what
      }}
    >
      {text}
    </Button>
  )
}
