import { live } from "../shell/live"
import { LinkButton, Panel } from "../shell/parts"

/** Downloads of the nodes' debug packages, for a person who helps. */
export function DebugPackages() {
  return (
    <Panel title="Debug package">
      <div class="stack small">
        <p>
          An archive with configuration, versions, figures of the last day, disk operations, logs, and the state of consensus and storage.
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
          <code>rookery debug-package show FILE</code> shows its contents, and any program that opens tar.gz can unpack it.
        </p>
      </div>
    </Panel>
  )
}
