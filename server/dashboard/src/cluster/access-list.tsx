import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Button, type Column, Confirm, Table, toast } from "../shell/parts"
import { send } from "../shell/request"

interface AccessListProps<Row> {
  /** The kind of item: "token". */
  kind: string
  label: string
  /** Path of the route that revokes an item by its name. */
  path: string
  rows: readonly Row[]
  columns: Column<Row>[]
  empty: ComponentChildren
  /** Additional text of the confirmation. */
  warning?: (name: string) => ComponentChildren
  refresh: () => Promise<void>
}

/** The list of tokens or certificates, each with a button that revokes it. */
export function AccessList<Row extends { Name: string }>({
  kind,
  label,
  path,
  rows,
  columns,
  empty,
  warning,
  refresh,
}: AccessListProps<Row>) {
  const revoked = useSignal<string | null>(null)
  const name = revoked.value
  return (
    <>
      <Table
        label={label}
        stacks
        rows={rows}
        keyOf={(row) => row.Name}
        empty={empty}
        columns={[
          ...columns,
          {
            title: "Actions",
            unseenTitle: true,
            end: true,
            cell: (row) => (
              <Button
                kind="plain danger"
                label={`Revoke the ${kind} ${row.Name}`}
                onClick={() => {
                  revoked.value = row.Name
                }}
              >
                Revoke
              </Button>
            ),
          },
        ]}
      />
      {name !== null && (
        <Confirm
          title={`Revoke ${name}?`}
          verb="Revoke"
          name={name}
          onConfirm={async () => {
            await send(`${path}?name=${encodeURIComponent(name)}`, { method: "DELETE" })
            toast(`The ${kind} '${name}' is revoked.`, { tone: "good" })
            await refresh()
          }}
          onClose={() => {
            revoked.value = null
          }}
        >
          <p>
            Every request with this {kind} is refused from then on. This cannot be undone.
            {warning?.(name)}
          </p>
        </Confirm>
      )}
    </>
  )
}
