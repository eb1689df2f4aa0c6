import { ago } from "../shell/format"
import { live } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Copyable, Panel, Tag } from "../shell/parts"
import { session } from "../shell/session"
import { backupLine } from "./backup-line"

const OldSeconds = 3 * 86_400

/** The age of the newest backup, and the commands to take one, regularly, and to restore it. */
export function Backups() {
  const ages = (live.value?.Nodes ?? []).map((node) => node.Sample?.BackupAgeSeconds).filter((age) => age != null)
  const age = ages.length === 0 ? null : Math.min(...ages)
  return (
    <Panel
      title="Backups"
      actions={
        <Tag tone={age === null ? "warning" : age > OldSeconds ? "warning" : "good"}>
          {age === null ? "none known" : `last ${ago(age)}`}
        </Tag>
      }
    >
      <div class="stack small">
        <p>
          A cluster keeps documents when a card dies. It does not when somebody deletes them, or when the house burns: that is what backups
          are for.
        </p>
        <h3>By playbook: encrypted, incremental, off the nodes</h3>
        <Copyable text="ansible-playbook rookery.cluster.backup" />
        <h3>Every night</h3>
        <Copyable text="0 3 * * * cd /home/ann/home && ansible-playbook rookery.cluster.backup >backup.log 2>&1" />
        <h3>By hand, from any machine</h3>
        <Copyable
          text={backupLine(new Date(), {
            url: location.origin,
            needsToken: session.value?.By !== "open",
            isSecure: session.value?.IsSecure ?? false,
          })}
        />
        <h3>Restore, onto empty machines</h3>
        <Copyable text="ansible-playbook rookery.cluster.restore" />
        <p>
          <a href={manualHref("/help/how-to/back-up-a-cluster.md")}>Back up a cluster</a> ·{" "}
          <a href={manualHref("/help/how-to/back-up-and-restore.md")}>One node by hand</a>
        </p>
      </div>
    </Panel>
  )
}
