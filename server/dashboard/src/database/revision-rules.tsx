import { useSignal } from "@preact/signals"
import { type CollectionStatistics, pathOf, readOf } from "../documents/store"
import { manualHref } from "../shell/manual-href"
import { Button, Confirm, Empty, ErrorSentence, Menu, Panel, Table, Tag, toast, useAsked } from "../shell/parts"
import { ask } from "../shell/request"
import { may } from "../shell/session"
import { type DatabaseRecord, keptBy, type RevisionRule, type RevisionsConfiguration, recordPath } from "./record"
import { RuleDialog } from "./rule-dialog"

interface Row {
  /** Null for the default. */
  collection: string | null
  rule: RevisionRule
}

const None: RevisionsConfiguration = { Default: null, Collections: {} }

/** The rules by which collections keep revisions. */
export function RevisionRules({ database }: { database: string }) {
  const { data, trouble, refresh } = useAsked<DatabaseRecord>(recordPath(database))
  const edited = useSignal<Row | "new" | null>(null)
  const removed = useSignal<Row | null>(null)
  const isAdmin = may("admin")
  const collections = useAsked<CollectionStatistics>(edited.value === "new" ? readOf(database, "collections/stats/detailed") : null)
  const configuration = data.value && (data.value.Revisions ?? None)
  const rows: Row[] = configuration
    ? [
        ...(configuration.Default ? [{ collection: null, rule: configuration.Default }] : []),
        ...Object.entries(configuration.Collections).map(([collection, rule]) => ({ collection, rule })),
      ]
    : []

  /** Changes one rule. The node replaces the whole configuration, so another admin's change must not be lost. */
  const store = async (collection: string | null, rule: RevisionRule | null) => {
    const now = (await ask<DatabaseRecord>(recordPath(database))).Revisions ?? None
    if (JSON.stringify(now) !== JSON.stringify(configuration)) {
      await refresh()
      throw new Error("The configuration was changed meanwhile. Nothing was stored; it is shown as it is now.")
    }

    const others = Object.entries(now.Collections).filter(([name]) => name.toLowerCase() !== collection?.toLowerCase())
    const Collections = Object.fromEntries([...others, ...(collection !== null && rule ? [[collection, rule] as const] : [])])
    await ask(pathOf(database, "admin/revisions/config"), {
      method: "POST",
      body: { Default: collection === null ? rule : now.Default, Collections },
    })
    toast("The configuration of revisions is stored.", { tone: "good" })
    await refresh()
  }

  return (
    <Panel
      title="Revisions"
      actions={
        isAdmin &&
        configuration && (
          <Button
            onClick={() => {
              edited.value = "new"
            }}
          >
            Add a rule
          </Button>
        )
      }
    >
      <ErrorSentence of={trouble.value} retry={refresh} />
      {configuration && (
        <Table
          label="Rules of revisions"
          stacks
          rows={rows}
          keyOf={(row) => row.collection ?? ""}
          empty={
            <Empty title="No earlier versions of documents are kept.">
              <span>
                With a rule, changed and deleted documents can be restored.{" "}
                <a href={manualHref("/help/how-to/revisions.md")}>How it works</a>
              </span>
            </Empty>
          }
          columns={[
            {
              title: "Collection",
              sort: (row) => row.collection ?? "",
              cell: (row) => row.collection ?? <Tag tone="accent">all others</Tag>,
            },
            { title: "Keeps", cell: (row) => keptBy(row.rule) },
            {
              title: "When the document is deleted",
              cell: (row) => (row.rule.PurgeOnDelete ? "they are removed" : "they stay"),
            },
            {
              title: "Actions",
              unseenTitle: true,
              end: true,
              cell: (row) =>
                isAdmin && (
                  <Menu
                    label={`Actions on the rule of ${row.collection ?? "all others"}`}
                    actions={[
                      {
                        title: "Change …",
                        onClick: () => {
                          edited.value = row
                        },
                      },
                      {
                        title: "Remove …",
                        danger: true,
                        onClick: () => {
                          removed.value = row
                        },
                      },
                    ]}
                  />
                ),
            },
          ]}
        />
      )}
      {edited.value !== null && (
        <RuleDialog
          collection={edited.value === "new" ? undefined : edited.value.collection}
          rule={edited.value === "new" ? null : edited.value.rule}
          taken={rows.map((row) => row.collection)}
          known={Object.keys(collections.data.value?.Collections ?? {}).filter((name) => !name.startsWith("@"))}
          store={store}
          onClose={() => {
            edited.value = null
          }}
        />
      )}
      {removed.value && (
        <Confirm
          title={`Remove the rule of ${removed.value.collection ?? "all other collections"}?`}
          verb="Remove"
          danger
          onConfirm={async () => {
            if (removed.value) await store(removed.value.collection, null)
          }}
          onClose={() => {
            removed.value = null
          }}
        >
          <p>
            {removed.value.collection !== null && configuration?.Default
              ? "The collection follows the rule of all others then."
              : "New versions are not kept any more. The revisions that exist stay."}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
