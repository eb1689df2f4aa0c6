import { signal, useSignal } from "@preact/signals"
import type { ComponentChildren, InputHTMLAttributes } from "preact"
import { Button } from "./button"
import { Copyable } from "./copyable"
import { ErrorSentence } from "./error-sentence"
import { Field } from "./field"
import { Rook } from "./icons"
import { manualHref } from "./manual-href"
import { ask, Refusal } from "./request"
import { session, signIn } from "./session"
import { Tabs } from "./tabs"
import { useHeldPage } from "./unsaved"

/**
 * The first admin token, until the user has signed in with it. The node shows it once, so it must outlast the form: the
 * manual replaces the form, for example.
 */
const claimed = signal("")

/** The sign-in form, shown without a session. */
export function SignIn() {
  const { NodeName = "", ClusterName = "", IsClaimed = null, Version = "" } = session.value ?? {}
  const way = useSignal<"claim" | "token">(IsClaimed === false ? "claim" : "token")
  return (
    <div class="sign-in panel">
      <div class="sign-in-head">
        <Rook />
        <h1>{ClusterName || NodeName || "Rookery"}</h1>
        <p class="quiet">
          {NodeName && `Node ${NodeName}`}
          {Version && ` · Rookery ${Version}`}
        </p>
      </div>
      {claimed.value ? (
        <ClaimedToken />
      ) : IsClaimed === false ? (
        <Tabs
          label="Ways in"
          tabs={[
            { id: "claim", title: "Become its owner" },
            { id: "token", title: "Sign in" },
          ]}
          chosen={way.value}
          onChoose={(id) => {
            way.value = id
          }}
        >
          {way.value === "claim" ? <Claim /> : <TokenForm />}
        </Tabs>
      ) : (
        <TokenForm />
      )}
    </div>
  )
}

/** Signs in. If the text is not a token, or the token is unknown, throws an error that says what to do. */
async function signInByToken(token: string): Promise<void> {
  if (!/^rookery_\S+$/.test(token.trim())) {
    throw new Error("This is not a token: one begins with rookery_ and has no spaces. Paste the whole line of its file.")
  }

  try {
    await signIn(token)
  } catch (failure) {
    if (!(failure instanceof Refusal && failure.status === 401)) throw failure
    throw new Error(
      "This token is not known to the cluster: it was revoked, has expired, or belongs to another cluster. Ask a person who has an admin token for a new one, or create one as below.",
    )
  }
}

function TokenForm() {
  return (
    <SecretForm
      label="Token"
      hint="The line that begins with rookery_. The playbook put it into the file credentials/admin.token beside your inventory."
      verb="Sign in"
      input={{ type: "password", name: "token", autocomplete: "current-password" }}
      send={signInByToken}
    >
      <details>
        <summary>How do I get a token?</summary>
        <p>
          On a node's machine <code>sudo rookery token create</code> makes another, and <code>sudo rookery token reset</code> replaces a
          lost one, each with <code>--data</code> and the node's data directory. A client certificate that your browser shows needs no
          token. <a href={manualHref("/help/how-to/give-access.md")}>More in the manual.</a>
        </p>
      </details>
    </SecretForm>
  )
}

function ClaimedToken() {
  const trouble = useSignal<unknown>(null)
  useHeldPage()
  return (
    <div class="stack">
      <p>
        This is your admin token. It is shown <strong>this once</strong>: put it into your password manager.
      </p>
      <Copyable text={claimed.value} />
      <ErrorSentence of={trouble.value} />
      <Button
        kind="primary"
        onClick={async () => {
          try {
            await signIn(claimed.value)
            claimed.value = ""
          } catch (failure) {
            trouble.value = failure
          }
        }}
      >
        I have stored it: sign in
      </Button>
    </div>
  )
}

/** The form that claims a node without an owner by its code, and gets the first admin token. */
function Claim() {
  return (
    <SecretForm
      label="Code"
      hint="The node printed the code when it started. It is also in the file claim-code of the node's data directory."
      verb="Become the owner"
      input={{ name: "code", autocomplete: "one-time-code", autocapitalize: "characters", spellcheck: false }}
      send={async (code) => {
        claimed.value = (await ask<{ Token: string }>("/claim", { method: "POST", body: { Code: code.trim(), Name: "admin" } })).Token
      }}
    />
  )
}

interface SecretFormProps {
  label: string
  hint: string
  verb: string
  input: InputHTMLAttributes<HTMLInputElement>
  send: (secret: string) => Promise<unknown>
  children?: ComponentChildren
}

/** A form with one secret and a button. */
function SecretForm({ label, hint, verb, input, send, children }: SecretFormProps) {
  const secret = useSignal("")
  const busy = useSignal(false)
  const trouble = useSignal<unknown>(null)
  return (
    <form
      class="stack"
      onSubmit={async (event) => {
        event.preventDefault()
        busy.value = true
        trouble.value = null
        try {
          await send(secret.value)
        } catch (failure) {
          trouble.value = failure
        } finally {
          busy.value = false
        }
      }}
    >
      <Field label={label} hint={hint}>
        <input
          {...input}
          class="input"
          required
          value={secret.value}
          onInput={(event) => {
            secret.value = event.currentTarget.value
          }}
        />
      </Field>
      <ErrorSentence of={trouble.value} />
      <Button type="submit" kind="primary" busy={busy.value} disabled={secret.value.trim() === ""}>
        {verb}
      </Button>
      {children}
    </form>
  )
}
