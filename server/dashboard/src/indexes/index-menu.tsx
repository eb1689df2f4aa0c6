import { useSignal } from "@preact/signals"
import { pathOf } from "../documents/store"
import { useLeaving } from "../shell/leaving"
import { Button, Confirm, Menu, sentenceOf, toast } from "../shell/parts"
import { ask } from "../shell/request"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { dropDefinition } from "./drafts"
import type { ListedIndex } from "./index-state"

interface IndexMenuProps {
  database: string
  index: ListedIndex
  refresh: () => Promise<void>
  /** Whether to show one menu, for rows of a list. */
  isBrief?: boolean
}

/** The actions on an index. Pausing and resetting affect only this node, the other actions all members. */
export function IndexMenu({ database, index, refresh, isBrief = false }: IndexMenuProps) {
  const asking = useSignal<"reset" | "delete" | null>(null)
  const leaving = useLeaving()
  const { Name } = index
  const post = async (route: string, body?: unknown) => {
    try {
      await ask(pathOf(database, route, body === undefined ? { name: Name } : {}), {
        method: "POST",
        ...(body === undefined ? {} : { body }),
      })
    } catch (failure) {
      toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
    }

    await refresh()
  }
  const isPaused = index.Status === "Paused"
  const isDisabled = index.State === "Disabled"
  const isAdmin = may("admin")
  const mayWrite = may("write", database)
  const close = () => {
    asking.value = null
  }
  const dialogs = (
    <>
      {asking.value === "reset" && (
        <Confirm
          title={`Build ${Name} again?`}
          verb="Reset"
          onConfirm={async () => {
            await ask(pathOf(database, "indexes", { name: Name }), { method: "RESET" })
            toast(`The index ${Name} is built from the beginning on this node.`)
            await refresh()
          }}
          onClose={close}
        >
          <p>
            This node deletes the entries of the index and builds it again from the documents. Until the index has caught up, queries wait
            for it, or get stale results.
          </p>
        </Confirm>
      )}
      {asking.value === "delete" && (
        <Confirm
          title={`Delete the index ${Name}?`}
          verb="Delete"
          danger
          onConfirm={async () => {
            await ask(pathOf(database, "indexes", { name: Name }), { method: "DELETE" })
            dropDefinition(database, Name)
            toast(`The index ${Name} is deleted.`)
            if (!leaving.aborted) location.hash = hrefOf("indexes", database)
            await refresh()
          }}
          onClose={close}
        >
          <p>
            It is deleted on all members. No document is lost.{" "}
            {index.Type === "AutoMap"
              ? "The next query that needs it creates it again."
              : "Its definition is deleted too: copy it first, if you may need it again."}
          </p>
        </Confirm>
      )}
    </>
  )
  if (isBrief) {
    return (
      <>
        <Menu
          label={`Actions on ${Name}`}
          actions={[
            { title: "Terms and details", href: hrefOf("indexes", database, Name) },
            isAdmin &&
              !isDisabled && { title: isPaused ? "Resume" : "Pause", onClick: () => post(`admin/indexes/${isPaused ? "start" : "stop"}`) },
            isAdmin && {
              title: isDisabled ? "Enable" : "Disable",
              onClick: () => post(`admin/indexes/${isDisabled ? "enable" : "disable"}`),
            },
            mayWrite && {
              title: "Reset …",
              onClick: () => {
                asking.value = "reset"
              },
            },
            mayWrite && {
              title: "Delete …",
              danger: true,
              onClick: () => {
                asking.value = "delete"
              },
            },
          ]}
        />
        {dialogs}
      </>
    )
  }

  return (
    <span class="index-menu">
      {isAdmin && !isDisabled && (
        <Button label={`${isPaused ? "Resume" : "Pause"} ${Name}`} onClick={() => post(`admin/indexes/${isPaused ? "start" : "stop"}`)}>
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
      {isAdmin && (
        <Button
          label={`${isDisabled ? "Enable" : "Disable"} ${Name}`}
          onClick={() => post(`admin/indexes/${isDisabled ? "enable" : "disable"}`)}
        >
          {isDisabled ? "Enable" : "Disable"}
        </Button>
      )}
      {mayWrite && (
        <>
          <label class="inline-choice">
            Lock
            <select
              class="input"
              value={index.LockMode}
              onChange={(event) => void post("indexes/set-lock", { IndexNames: [Name], Mode: event.currentTarget.value })}
            >
              <option value="Unlock">none</option>
              <option value="LockedIgnore">ignore other definitions</option>
              <option value="LockedError">refuse other definitions</option>
            </select>
          </label>
          <label class="inline-choice">
            Priority
            <select
              class="input"
              value={index.Priority}
              onChange={(event) => void post("indexes/set-priority", { IndexNames: [Name], Priority: event.currentTarget.value })}
            >
              <option value="Low">low</option>
              <option value="Normal">normal</option>
              <option value="High">high</option>
            </select>
          </label>
        </>
      )}
      {mayWrite && (
        <>
          <Button
            label={`Reset ${Name}`}
            onClick={() => {
              asking.value = "reset"
            }}
          >
            Reset
          </Button>
          <Button
            kind="danger"
            label={`Delete ${Name}`}
            onClick={() => {
              asking.value = "delete"
            }}
          >
            Delete
          </Button>
        </>
      )}
      {dialogs}
    </span>
  )
}
