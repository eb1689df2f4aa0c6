import { useSignal } from "@preact/signals"
import { Button, Copyable, Dialog, ErrorSentence, Field } from "../shell/parts"
import { ask } from "../shell/request"

const scopes = [
  { scope: "read", what: "documents and queries" },
  { scope: "write", what: "documents stored, changed, deleted" },
  { scope: "metrics", what: "figures, timeline and this dashboard's overview" },
  { scope: "admin", what: "everything" },
]

const DaySeconds = 86_400

/** Makes a token, and shows it this once. */
export function NewToken({ onClose }: { onClose: () => void }) {
  const name = useSignal("")
  const chosen = useSignal<string[]>(["read"])
  const databases = useSignal("")
  const days = useSignal("")
  const made = useSignal<{ Token: string; Notice?: string } | null>(null)
  const busy = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const forDatabases = chosen.value.every((scope) => scope === "read" || scope === "write")
  const make = async () => {
    busy.value = true
    trouble.value = null
    const named = databases.value
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean)
    try {
      made.value = await ask("/admin/access/tokens", {
        method: "POST",
        body: {
          Name: name.value.trim(),
          Scopes: chosen.value,
          ...(forDatabases && named.length > 0 ? { Databases: named } : {}),
          ...(days.value ? { LifetimeSeconds: Math.round(Number(days.value) * DaySeconds) } : {}),
        },
      })
    } catch (failure) {
      trouble.value = failure
    } finally {
      busy.value = false
    }
  }
  if (made.value) {
    return (
      <Dialog title={`The token ${name.value}`} onClose={onClose} actions={<Button onClick={onClose}>I have kept it</Button>}>
        <p>
          It is shown <strong>this once</strong>. Who has it may do what it opens.
        </p>
        <Copyable text={made.value.Token} />
        {made.value.Notice && <p class="warning">{made.value.Notice}</p>}
      </Dialog>
    )
  }

  return (
    <Dialog
      title="New token"
      onClose={onClose}
      onSubmit={make}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy.value} disabled={chosen.value.length === 0 || name.value.trim() === ""}>
            Make the token
          </Button>
        </>
      }
    >
      <Field label="Name" hint="Who or what uses it: 1 to 63 lower-case letters, digits and hyphens.">
        <input
          class="input"
          autocomplete="off"
          autocapitalize="off"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
        />
      </Field>
      <fieldset class="ticks">
        <legend>It opens</legend>
        {scopes.map(({ scope, what }) => (
          <label key={scope} class="tick">
            <input
              type="checkbox"
              checked={chosen.value.includes(scope)}
              onChange={(event) => {
                const others = chosen.value.filter((one) => one !== scope)
                chosen.value = event.currentTarget.checked ? [...others, scope] : others
              }}
            />
            <span>
              <strong>{scope}</strong> <span class="quiet">{what}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {forDatabases && (
        <Field label="Only in these databases" hint="Names with commas between them. Nothing: in all.">
          <input
            class="input"
            autocomplete="off"
            autocapitalize="off"
            value={databases.value}
            onInput={(event) => {
              databases.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      <Field label="Days until it ends" hint="Nothing: it holds until it is withdrawn.">
        <input
          class="input"
          type="number"
          min="1"
          max="3650"
          inputMode="numeric"
          value={days.value}
          onInput={(event) => {
            days.value = event.currentTarget.value
          }}
        />
      </Field>
      <ErrorSentence of={trouble.value} />
    </Dialog>
  )
}
