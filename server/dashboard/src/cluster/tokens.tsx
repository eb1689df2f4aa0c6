import { useSignal } from "@preact/signals"
import { moment } from "../shell/format"
import { Button, Confirm, Empty, ErrorSentence, Panel, Table, Tag, toast, useAsked } from "../shell/parts"
import { send } from "../shell/request"
import { session } from "../shell/session"
import { Kiosk } from "./kiosk"
import { NewToken } from "./new-token"

export interface TokenRow {
  Name: string
  Scopes: string[]
  Databases: string[] | null
  Created: string
  Expires: string | null
}

/** Who may enter with a token. A token itself is shown once, when it is made. */
export function Tokens() {
  const { data, trouble, refresh } = useAsked<{ Tokens: TokenRow[] }>("/admin/access/tokens")
  const open = useSignal<"new" | "kiosk" | null>(null)
  const withdrawn = useSignal<string | null>(null)
  const close = () => {
    open.value = null
    void refresh()
  }
  return (
    <Panel
      title="Access tokens"
      actions={
        <div class="actions">
          <Button
            onClick={() => {
              open.value = "kiosk"
            }}
          >
            Kiosk link
          </Button>
          <Button
            kind="primary"
            onClick={() => {
              open.value = "new"
            }}
          >
            New token
          </Button>
        </div>
      }
    >
      <ErrorSentence of={trouble.value} retry={refresh} />
      {data.value && (
        <Table
          label="Access tokens"
          stacks
          rows={data.value.Tokens}
          keyOf={(token) => token.Name}
          empty={<Empty title="No tokens yet.">Make one for each program and each person that enters.</Empty>}
          columns={[
            {
              title: "Name",
              sort: (token) => token.Name,
              cell: (token) => (
                <>
                  {token.Name} {token.Name === session.value?.Name && <Tag tone="accent">yours</Tag>}
                </>
              ),
            },
            { title: "May", cell: (token) => <Rights token={token} /> },
            { title: "Made", wideOnly: true, cell: (token) => moment(token.Created), sort: (token) => token.Created },
            { title: "Ends", cell: (token) => (token.Expires ? moment(token.Expires) : "never"), sort: (token) => token.Expires },
            {
              title: "Orders",
              unseenTitle: true,
              end: true,
              cell: (token) => (
                <Button
                  kind="plain danger"
                  label={`Withdraw the token ${token.Name}`}
                  onClick={() => {
                    withdrawn.value = token.Name
                  }}
                >
                  Withdraw
                </Button>
              ),
            },
          ]}
        />
      )}
      {open.value === "new" && <NewToken onClose={close} />}
      {open.value === "kiosk" && <Kiosk taken={data.value?.Tokens.map((token) => token.Name) ?? []} onClose={close} />}
      {withdrawn.value !== null && (
        <Confirm
          title={`Withdraw ${withdrawn.value}?`}
          verb="Withdraw"
          name={withdrawn.value}
          onConfirm={async () => {
            await send(`/admin/access/tokens?name=${encodeURIComponent(withdrawn.value ?? "")}`, { method: "DELETE" })
            toast(`The token '${withdrawn.value}' opens nothing any more.`, { tone: "good" })
            await refresh()
          }}
          onClose={() => {
            withdrawn.value = null
          }}
        >
          <p>
            Whatever enters with it is refused from now on, and it cannot be brought back.
            {withdrawn.value === session.value?.Name && (
              <strong> It is the one that you are signed in with: you will be signed out.</strong>
            )}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}

function Rights({ token }: { token: TokenRow }) {
  return (
    <span class="tag-list">
      {token.Scopes.map((scope) => (
        <Tag key={scope} tone={scope === "admin" ? "warning" : "quiet"}>
          {scope}
        </Tag>
      ))}
      {token.Databases && <span class="quiet">in {token.Databases.join(", ")}</span>}
    </span>
  )
}
