import { useSignal } from "@preact/signals"
import { pathOf } from "../documents/store"
import { count } from "../shell/format"
import { manualHref } from "../shell/manual-href"
import { NumberInput } from "../shell/number-input"
import { Confirm, ErrorSentence, Field, Menu, Panel, Table, Tag, toast, useAsked, WorkDialog } from "../shell/parts"
import { ask } from "../shell/request"
import { may } from "../shell/session"
import { type DatabaseRecord, recordPath, type Schedule, wholeNumber } from "./record"

interface Kind {
  title: string
  /** The member of a document's metadata with its time. */
  metadata: string
  what: string
  record: "Expiration" | "Refresh" | "DataArchival"
  route: string
  frequency: string
  /** Whether it happens without a configuration. */
  isOnByDefault: boolean
}

const kinds: readonly Kind[] = [
  {
    title: "Expiration",
    metadata: "@expires",
    what: "deletes the document",
    record: "Expiration",
    route: "admin/expiration/config",
    frequency: "DeleteFrequencyInSec",
    isOnByDefault: true,
  },
  {
    title: "Refresh",
    metadata: "@refresh",
    what: "stores it anew, for indexes and subscriptions",
    record: "Refresh",
    route: "admin/refresh/config",
    frequency: "RefreshFrequencyInSec",
    isOnByDefault: false,
  },
  {
    title: "Archival",
    metadata: "@archive-at",
    what: "takes it out of indexes",
    record: "DataArchival",
    route: "admin/data-archival/config",
    frequency: "ArchiveFrequencyInSec",
    isOnByDefault: false,
  },
]

const DefaultSeconds = 60

const isOn = (kind: Kind, schedule: Schedule | undefined) => (schedule ? !schedule.Disabled : kind.isOnByDefault)
const secondsOf = (kind: Kind, schedule: Schedule | undefined) => (schedule?.[kind.frequency] as number | null) ?? DefaultSeconds

/** What the node does with documents at a time in their metadata: expiration, refresh and archival. */
export function Schedules({ database }: { database: string }) {
  const { data, trouble, refresh } = useAsked<DatabaseRecord>(recordPath(database))
  const [edited, reset] = [useSignal<Kind | null>(null), useSignal<Kind | null>(null)]
  const record = data.value
  const store = async (kind: Kind, schedule: Schedule | null) => {
    await ask(pathOf(database, kind.route), { method: "POST", body: schedule === null ? "null" : schedule })
    toast(`${kind.title} is set.`, { tone: "good" })
    await refresh()
  }
  return (
    <Panel title="At a time in a document" actions={<a href={manualHref("/help/how-to/expire-documents.md")}>How it works</a>}>
      <ErrorSentence of={trouble.value} retry={refresh} />
      {record && (
        <Table
          label="Expiration, refresh and archival"
          stacks
          rows={kinds}
          keyOf={(kind) => kind.title}
          columns={[
            {
              title: "What",
              cell: (kind) => (
                <span>
                  {kind.title}{" "}
                  <span class="quiet">
                    <code>{kind.metadata}</code> {kind.what}
                  </span>
                </span>
              ),
            },
            {
              title: "State",
              cell: (kind) => (
                <span>
                  <Tag tone={isOn(kind, record[kind.record]) ? "good" : "quiet"}>{isOn(kind, record[kind.record]) ? "on" : "off"}</Tag>
                </span>
              ),
            },
            {
              title: "Looks every",
              end: true,
              cell: (kind) => (isOn(kind, record[kind.record]) ? `${count(secondsOf(kind, record[kind.record]))} s` : ""),
            },
            {
              title: "At most at once",
              end: true,
              cell: (kind) =>
                isOn(kind, record[kind.record])
                  ? record[kind.record]?.MaxItemsToProcess == null
                    ? "all"
                    : count(record[kind.record]?.MaxItemsToProcess)
                  : "",
            },
            {
              title: "Actions",
              unseenTitle: true,
              end: true,
              cell: (kind) =>
                may("admin") && (
                  <Menu
                    label={`Actions on ${kind.title}`}
                    actions={[
                      {
                        title: "Change …",
                        onClick: () => {
                          edited.value = kind
                        },
                      },
                      record[kind.record] !== undefined && {
                        title: "Back to the default …",
                        onClick: () => {
                          reset.value = kind
                        },
                      },
                    ]}
                  />
                ),
            },
          ]}
        />
      )}
      {edited.value && record && (
        <ScheduleDialog
          kind={edited.value}
          schedule={record[edited.value.record]}
          store={store}
          onClose={() => {
            edited.value = null
          }}
        />
      )}
      {reset.value && (
        <Confirm
          title={`${reset.value.title} as by default?`}
          verb="Reset"
          onConfirm={async () => {
            if (reset.value) await store(reset.value, null)
          }}
          onClose={() => {
            reset.value = null
          }}
        >
          <p>
            {reset.value.isOnByDefault
              ? "Documents whose time has passed are deleted, every 60 seconds."
              : `${reset.value.metadata} has no effect any more.`}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}

interface ScheduleDialogProps {
  kind: Kind
  schedule: Schedule | undefined
  store: (kind: Kind, schedule: Schedule) => Promise<unknown>
  onClose: () => void
}

function ScheduleDialog({ kind, schedule, store, onClose }: ScheduleDialogProps) {
  const isActive = useSignal(isOn(kind, schedule))
  const seconds = useSignal(`${secondsOf(kind, schedule)}`)
  const most = useSignal(`${schedule?.MaxItemsToProcess ?? ""}`)
  const [every, limit] = [wholeNumber(seconds.value), wholeNumber(most.value)]
  const isFrequency = every != null && every > 0
  return (
    <WorkDialog
      title={kind.title}
      verb="Save"
      isReady={!isActive.value || (isFrequency && limit !== undefined && limit !== 0)}
      work={async () => {
        await store(kind, {
          Disabled: !isActive.value,
          [kind.frequency]: isFrequency ? every : DefaultSeconds,
          MaxItemsToProcess: limit || null,
        })
        onClose()
      }}
      onClose={onClose}
    >
      <label class="tick">
        <input
          type="checkbox"
          checked={isActive.value}
          onChange={(event) => {
            isActive.value = event.currentTarget.checked
          }}
        />
        <span>
          At the time in <code>{kind.metadata}</code>, the node {kind.what}
        </span>
      </label>
      {!isActive.value && kind.isOnByDefault && <p class="wrong-note">No document is deleted then, whatever its time says.</p>}
      {isActive.value && (
        <div class="pair">
          <Field label="Look every … seconds" wrong={isFrequency ? null : "A whole number above 0."}>
            <NumberInput text={seconds} />
          </Field>
          <Field
            label="At most at once"
            hint="Empty: all that are due."
            wrong={limit === undefined || limit === 0 ? "A whole number above 0." : null}
          >
            <NumberInput text={most} />
          </Field>
        </div>
      )}
    </WorkDialog>
  )
}
