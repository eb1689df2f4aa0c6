import { live } from "../shell/live"
import { LinkButton, Panel } from "../shell/parts"

/** The download of a node's debug package, for a person who helps. */
export function DebugPackages() {
  return (
    <Panel title="Debug package">
      <div class="stack small">
        <p>
          Configuration, versions, figures of the last day, disk work, logs and what consensus and storage look like, in one archive.
          Secrets and documents are left out.
        </p>
        <div class="actions">
          {(live.value?.Nodes ?? []).map((node) => (
            <LinkButton key={node.Tag} href={`/admin/node/debug-package?node=${encodeURIComponent(node.Tag)}`} download>
              {node.Name}
            </LinkButton>
          ))}
        </div>
        <p class="quiet">
          <code>rookery debug-package show FILE</code> reads it, and so does any program that opens tar.gz.
        </p>
      </div>
    </Panel>
  )
}
