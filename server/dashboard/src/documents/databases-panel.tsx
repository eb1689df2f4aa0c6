import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { count } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, Confirm, Empty, ErrorSentence, Field, Menu, Panel, Table, toast, useAsked, WorkDialog } from "../shell/parts"
import { ask } from "../shell/request"
import { hrefOf, route, takeParameter } from "../shell/route"
import { may } from "../shell/session"
import { type DatabaseList, databaseNameProblem, databasesPath } from "./store"

/** The list of all databases, the start of the documents page. */
export function DatabasesPanel() {
  const databases = useAsked<DatabaseList>(databasesPath(), 5)
  const isCreating = useSignal(false)
  useEffect(() => {
    if (takeParameter("new") !== null && may("admin")) isCreating.value = true
  }, [route.value])
  const dropped = useSignal<DatabaseList["Databases"][number] | null>(null)
  const rows = databases.data.value?.Databases
  const create = may("admin") && (
    <Button
      kind="primary"
      onClick={() => {
        isCreating.value = true
      }}
    >
      New database
    </Button>
  )
  return (
    <>
      <Panel title="Databases" actions={create} stale={databases.trouble.value !== null}>
        <ErrorSentence of={databases.trouble.value} retry={databases.refresh} />
        {rows && (
          <Table
            label="Databases"
            rows={rows}
            keyOf={(row) => row.Name}
            empty={
              <Empty title="There is no database yet.">
                {may("admin") ? "Create one, and write a document into it." : "A person with an admin token can create one."}
              </Empty>
            }
            columns={[
              { title: "Name", cell: (row) => <a href={hrefOf("documents", row.Name)}>{row.Name}</a>, sort: (row) => row.Name },
              { title: "Documents", cell: (row) => count(row.DocumentsCount), sort: (row) => row.DocumentsCount ?? -1, end: true },
              {
                title: "Actions",
                unseenTitle: true,
                end: true,
                cell: (row) => (
                  <Menu
                    label={`Actions on ${row.Name}`}
                    actions={[
                      { title: "Query", href: hrefOf("query", row.Name) },
                      { title: "Indexes", href: hrefOf("indexes", row.Name) },
                      may("write", row.Name) && { title: "Import", href: `${hrefOf("documents", row.Name)}?open=import` },
                      { title: "Export", href: `${hrefOf("documents", row.Name)}?open=export` },
                      { title: "Settings", href: hrefOf("database", row.Name) },
                      { title: "Subscriptions", href: hrefOf("database", row.Name, "subscriptions") },
                      { title: "Deleted documents", href: hrefOf("database", row.Name, "deleted") },
                      may("admin") && {
                        title: "Delete …",
                        danger: true,
                        onClick: () => {
                          dropped.value = row
                        },
                      },
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
      </Panel>
      {isCreating.value && (
        <CreateDatabase
          taken={rows?.map((row) => row.Name) ?? []}
          onClose={() => {
            isCreating.value = false
          }}
        />
      )}
      {dropped.value && (
        <Confirm
          title={`Delete the database ${dropped.value.Name}?`}
          verb="Delete it"
          danger
          name={dropped.value.Name}
          onConfirm={async () => {
            const name = dropped.value?.Name
            await ask("/admin/databases", { method: "DELETE", body: { DatabaseNames: [name], HardDelete: true } })
            toast(`${name} is deleted.`)
            await databases.refresh()
          }}
          onClose={() => {
            dropped.value = null
          }}
        >
          <p>
            This also deletes its {count(dropped.value.DocumentsCount)} documents and its indexes, on all members of the cluster. It cannot
            be undone: afterwards only a backup has them.
          </p>
        </Confirm>
      )}
    </>
  )
}

function CreateDatabase({ taken, onClose }: { taken: string[]; onClose: () => void }) {
  const name = useSignal("")
  const leaving = useLeaving()
  const wanted = name.value.trim()
  const problem =
    databaseNameProblem(wanted) ?? (taken.some((name) => name.toLowerCase() === wanted.toLowerCase()) ? "This name is taken." : null)
  const create = async () => {
    await ask(`/admin/databases?${new URLSearchParams({ name: wanted })}`, { method: "PUT", body: { DatabaseName: wanted } })
    const isHere = !leaving.aborted
    onClose()
    if (isHere) location.hash = hrefOf("documents", wanted)
  }
  return (
    <WorkDialog title="New database" verb="Create" isReady={wanted !== "" && problem === null} work={create} onClose={onClose}>
      <Field label="Name" hint="Letters, digits, _, - and dots. Every member of the cluster stores the database." wrong={problem}>
        <input
          class="input"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
        />
      </Field>
    </WorkDialog>
  )
}
