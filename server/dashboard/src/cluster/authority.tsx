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
 * The certificate authority that members and clients trust. It is replaced in two steps if another person may have a
 * card.
 */
export function Authority() {
  const { data, trouble, refresh } = useAsked<AuthorityState>(inCluster("/admin/cluster/authority"), 10)
  const asks = useSignal<"rotate" | "retire" | null>(null)
  const state = data.value
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
                <strong>{authority.Subject}</strong> {state.Authorities.length > 1 && (at === 0 ? "signs" : "is trusted too")}
              </p>
              <Copyable text={authority.Sha256.toUpperCase().replace(/..(?=.)/g, "$&:")} label="Copy the fingerprint" />
            </div>
          ))}
          {isRotating && (
            <p>
              {waits.length > 0
                ? `It waits for ${waits.join(", ")} (stage ${state.Rotation}). A member that is gone for good has to be removed first.`
                : "All members show certificates of both. Give clients the new authority.pem, make their certificates anew, and let the old one go then."}
            </p>
          )}
          <div class="actions">
            <Button onClick={() => offer("authority.pem", state.Authorities.map((one) => one.Certificate).join(""))}>
              Download authority.pem
            </Button>
            {isRotating ? (
              <Ask asks={asks} what="retire" text="Let the old one go" disabled={waits.length > 0} />
            ) : (
              <Ask asks={asks} what="rotate" text="Replace it" />
            )}
            <a href={manualHref("/help/reference/joining.md#another-authority")}>More in the manual</a>
          </div>
        </div>
      )}
      {asks.value && (
        <Confirm
          title={asks.value === "rotate" ? "Make another authority?" : "Trust the old one no more?"}
          verb={asks.value === "rotate" ? "Replace it" : "Let it go"}
          danger
          onConfirm={async () => {
            await ask(`/admin/cluster/authority/${asks.value}`, { method: "POST" })
            toast(
              asks.value === "rotate"
                ? "A new authority was made; members learn to trust it now."
                : "The old authority is trusted no more.",
              { tone: "good" },
            )
            await refresh()
          }}
          onClose={() => {
            asks.value = null
          }}
        >
          <p>
            {asks.value === "rotate"
              ? "First all members learn to trust it, then all show certificates of it. Clients go on with the old one until you let it go. A member that is off holds it up."
              : "Clients that trust only the old authority reach no node any more, and certificates that it signed open nothing."}
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
