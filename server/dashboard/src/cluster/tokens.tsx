import { useSignal } from "@preact/signals"
import { moment } from "../shell/format"
import { Button, Empty, ErrorSentence, Panel, Tag, useAsked } from "../shell/parts"
import { session } from "../shell/session"
import { AccessList } from "./access-list"
import { Kiosk } from "./kiosk"
import { NewToken } from "./new-token"
import { scopesOf } from "./rights"

export interface TokenRow {
  Name: string
  Scopes: string[]
  Databases: string[] | null
  Created: string
  Expires: string | null
}

/** The tokens. A token itself is shown only when it is created. */
export function Tokens() {
  const { data, trouble, refresh } = useAsked<{ Tokens: TokenRow[] }>("/admin/access/tokens")
  const open = useSignal<"new" | "kiosk" | null>(null)
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
        <AccessList
          kind="token"
          label="Access tokens"
          path="/admin/access/tokens"
          rows={data.value.Tokens}
          refresh={refresh}
          warning={(name) => name === session.value?.Name && <strong> You are signed in with this token, and will be signed out.</strong>}
          empty={<Empty title="No tokens yet.">Create one for each program and each person.</Empty>}
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
          ]}
        />
      )}
      {open.value === "new" && <NewToken onClose={close} />}
      {open.value === "kiosk" && <Kiosk taken={data.value?.Tokens.map((token) => token.Name) ?? []} onClose={close} />}
    </Panel>
  )
}

function Rights({ token }: { token: TokenRow }) {
  const { limited, unlimited } = scopesOf(token)
  return (
    <span class="tag-list">
      <ScopeTags scopes={limited} />
      {limited.length > 0 && <span class="quiet">in {token.Databases?.join(", ")}</span>}
      <ScopeTags scopes={unlimited} />
    </span>
  )
}

function ScopeTags({ scopes }: { scopes: string[] }) {
  return scopes.map((scope) => (
    <Tag key={scope} tone={scope === "admin" ? "warning" : "quiet"}>
      {scope}
    </Tag>
  ))
}
