import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { download } from "../documents/export"
import { ago, bytes, count, duration, moment } from "../shell/format"
import { live } from "../shell/live"
import { manualHref } from "../shell/manual-href"
import { Button, Copyable, Empty, ErrorSentence, Field, Panel, Progress, Table, Tag, toast } from "../shell/parts"
import { session } from "../shell/session"
import { storage } from "../shell/storage"
import { checkBackup, takeBackup } from "./backup-download"
import { backupLine } from "./backup-line"
import { type BackupContents, lackOf } from "./backup-stream"
import { fileNameOf, readTaken, rememberTaken, type TakenBackup } from "./taken-backups"

const OldSeconds = 3 * 86_400
const ByPlaybook = "/help/how-to/back-up-a-cluster.md"
const ByHand = "/help/how-to/back-up-and-restore.md"

/** The backups: the age of the last one, a new one, a check of a file, the schedule, and how to restore. */
export function Backups() {
  const place = session.value?.ClusterName || session.value?.NodeName || "rookery"
  const taken = useSignal(readTaken(storage, place))
  return (
    <div class="columns">
      <div class="stack">
        <State />
        <BackUpNow
          place={place}
          onTaken={(backup) => {
            taken.value = rememberTaken(storage, place, backup)
          }}
        />
        <Panel title="Sent to this browser">
          <Table
            label="Backups that were sent to this browser"
            rows={taken.value}
            keyOf={(backup) => backup.at}
            empty={
              <Empty title="None yet.">
                A backup is listed when it was handed to the browser, which saves it where it saves downloads. A node keeps no list.
              </Empty>
            }
            columns={[
              { title: "File", cell: (backup) => <TakenName {...backup} />, sort: (backup) => backup.name },
              { title: "Age", cell: (backup) => <Age at={backup.at} />, sort: (backup) => -backup.at, end: true },
              { title: "Size", cell: (backup) => bytes(backup.bytes), sort: (backup) => backup.bytes, end: true },
              { title: "Databases", cell: (backup) => count(backup.databases), end: true, wideOnly: true },
            ]}
          />
        </Panel>
      </div>
      <div class="stack">
        <CheckFile />
        <Schedule />
        <Restore />
      </div>
    </div>
  )
}

function TakenName({ name, unreadable = 0 }: TakenBackup) {
  return (
    <>
      <code>{name}</code>{" "}
      {unreadable > 0 && (
        <Tag tone="bad" title={lackOf({ unreadable })}>
          incomplete
        </Tag>
      )}
    </>
  )
}

function Age({ at }: { at: number }) {
  return <time dateTime={new Date(at).toISOString()}>{duration((Date.now() - at) / 1000)}</time>
}

/** The age of the last backup that the nodes know of. */
function State() {
  const ages = (live.value?.Nodes ?? []).map((node) => node.Sample?.BackupAgeSeconds).filter((age) => age != null)
  const age = ages.length === 0 ? null : Math.min(...ages)
  const tone = age === null || age > OldSeconds ? "warning" : "good"
  return (
    <Panel title="Last verified backup">
      <div class="backup-age">
        <strong class={`number ${tone}`}>{age === null ? "none known" : duration(age)}</strong>
        {age !== null && <span class="quiet">old, taken {moment(Date.now() - age * 1000)}</span>}
      </div>
      <p class="small">
        {age === null
          ? "The nodes know only of backups that the playbook took and read back, not of those that were taken here or by hand. "
          : age > OldSeconds
            ? "Later writes are only on the cards. "
            : ""}
        A cluster keeps documents when a card dies. When they are deleted by mistake, or the house burns, a backup does.
      </p>
    </Panel>
  )
}

function BackUpNow({ place, onTaken }: { place: string; onTaken: (backup: TakenBackup) => void }) {
  const read = useSignal<number | null>(null)
  const trouble = useSignal<unknown>(null)
  const stopped = useRef<AbortController | null>(null)
  useEffect(() => () => stopped.current?.abort(), [])
  const isRunning = read.value !== null
  const take = async () => {
    const control = new AbortController()
    stopped.current = control
    read.value = 0
    trouble.value = null
    try {
      const { contents, file } = await takeBackup((all) => {
        read.value = all
      }, control.signal)
      const name = fileNameOf(place, new Date())
      download(file, name)
      const { databases, unreadable } = contents
      onTaken({ name, at: Date.now(), bytes: file.size, databases: databases.length, unreadable })
      const lack = lackOf(contents)
      // Shown in the panel, because a toast disappears after seconds and may be missed.
      if (lack !== "") trouble.value = `${name}: ${lack}`
      else toast(`${name}, sent to the browser: ${contentsOf(contents)}. It arrived as it was sent.`, { tone: "good", seconds: 12 })
    } catch (failure) {
      if (!control.signal.aborted) trouble.value = failure
    } finally {
      read.value = null
    }
  }
  return (
    <Panel title="Back up now" actions={isRunning && <Button onClick={() => stopped.current?.abort()}>Stop</Button>}>
      <div class="stack small">
        <p>
          Downloads all databases of {session.value?.NodeName || "this node"}, with every write that was acknowledged before, as one file,
          and checks that each piece arrived as it was sent. It is not encrypted: keep it where only you can read it, and not on a node's
          card.
        </p>
        <div class="actions">
          <Button kind="primary" busy={isRunning} onClick={() => void take()}>
            Back up now
          </Button>
        </div>
        {isRunning && <Progress label="Backing up …" done={read.value ?? 0} total={null} format={bytes} />}
        <ErrorSentence of={trouble.value} />
        <details class="fold">
          <summary>From a shell, of any size</summary>
          <Copyable
            text={backupLine(new Date(), {
              url: location.origin,
              needsToken: session.value?.By !== "open",
              isSecure: session.value?.IsSecure ?? false,
            })}
          />
        </details>
      </div>
    </Panel>
  )
}

function contentsOf({ databases, files, bytes: size }: BackupContents): string {
  const many = databases.length
  return `${count(many)} ${many === 1 ? "database" : "databases"} in ${count(files)} ${files === 1 ? "file" : "files"}, ${bytes(size)}`
}

/** The check of a file that was downloaded before. Nothing is sent to the node. */
function CheckFile() {
  const state = useSignal<{ done: number; total: number } | null>(null)
  const found = useSignal<(BackupContents & { name: string }) | null>(null)
  const trouble = useSignal<unknown>(null)
  const stopped = useRef<AbortController | null>(null)
  useEffect(() => () => stopped.current?.abort(), [])
  const check = async (file: File) => {
    stopped.current?.abort()
    const control = new AbortController()
    stopped.current = control
    found.value = null
    trouble.value = null
    try {
      const contents = await checkBackup(
        file,
        (done) => {
          state.value = { done, total: file.size }
        },
        control.signal,
      )
      found.value = { ...contents, name: file.name }
    } catch (failure) {
      if (control.signal.aborted) return
      trouble.value = `${file.name} is not a complete backup. ${failure instanceof Error ? failure.message : ""}`
    }

    state.value = null
  }
  return (
    <Panel title="Check a backup">
      <div class="stack small">
        <Field label="File" hint="It is read in this browser; nothing is sent.">
          <input
            class="input"
            type="file"
            accept=".rookery-backup"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? []
              if (file) void check(file)
            }}
          />
        </Field>
        {state.value && <Progress label="Checking …" done={state.value.done} total={state.value.total} format={bytes} />}
        <ErrorSentence of={trouble.value} />
        {found.value && (
          <p role="status">
            <strong class={found.value.unreadable === 0 ? "good" : ""}>{found.value.name} arrived as it was sent:</strong>{" "}
            {contentsOf(found.value)}
            {found.value.taken !== "" &&
              `, taken ${moment(found.value.taken)}, ${ago((Date.now() - Date.parse(found.value.taken)) / 1000)}`}
            . {found.value.databases.length > 0 && `It has ${found.value.databases.join(", ")}.`}
          </p>
        )}
        {found.value && <ErrorSentence of={lackOf(found.value)} />}
        <p>
          Every piece is compared with its checksum. The tables in it are not read: the full check is{" "}
          <code>rookery backup --from FILE --to BACKUP</code>.
        </p>
      </div>
    </Panel>
  )
}

function Schedule() {
  return (
    <Panel title="Regularly, encrypted, elsewhere">
      <div class="stack small">
        <p>
          The playbook takes incremental backups into an encrypted repository, reads it back, and tells the nodes, which warn when the last
          one is three days old. A node itself has no schedule and no place for backups.
        </p>
        <Copyable text="ansible-playbook rookery.cluster.backup" />
        <p>
          Its place is <a href={manualHref(`${ByPlaybook}#choose-the-place`)}>a USB disk, an NFS or SMB share, or another machine by SSH</a>
          ; each night it runs <a href={manualHref(`${ByPlaybook}#take-a-backup`)}>by cron</a>.{" "}
          <a href={manualHref(`${ByPlaybook}#list-the-backups`)}>Its list</a> is in the repository.
        </p>
      </div>
    </Panel>
  )
}

function Restore() {
  return (
    <Panel title="Restore">
      <div class="stack small">
        <p>
          A restore goes to empty machines, or into an empty directory, and never over the data of a node. From the repository of the
          playbook:
        </p>
        <Copyable text="ansible-playbook rookery.cluster.restore" />
        <p>From a file that was downloaded here, with your names for FILE, BACKUP and DATA:</p>
        <Copyable text={"rookery backup --from FILE --to BACKUP\nrookery restore --from BACKUP --data DATA"} />
        <p>
          <a href={manualHref(`${ByPlaybook}#restore`)}>Restore a cluster</a> ·{" "}
          <a href={manualHref(`${ByHand}#restore`)}>Restore one node</a>
        </p>
      </div>
    </Panel>
  )
}
