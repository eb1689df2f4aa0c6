import { useSignal } from "@preact/signals"
import { Copyable, Field } from "../shell/parts"
import { ask } from "../shell/request"
import { AccessForm, WordInput } from "./access-form"

const scopes = [
  { scope: "read", what: "documents and queries" },
  { scope: "write", what: "storing, changing and deleting documents" },
  { scope: "metrics", what: "figures, timeline and this dashboard's overview" },
  { scope: "admin", what: "everything" },
]

const DaySeconds = 86_400

/** Creates a token, and shows it once. */
export function NewToken({ onClose }: { onClose: () => void }) {
  const name = useSignal("")
  const chosen = useSignal<string[]>(["read"])
  const databases = useSignal("")
  const days = useSignal("")
  const forDatabases = chosen.value.every((scope) => scope === "read" || scope === "write")
  const make = () => {
    const named = databases.value
      .split(",")
      .map((text) => text.trim())
      .filter(Boolean)
    return ask<{ Token: string; Notice?: string }>("/admin/access/tokens", {
      method: "POST",
      body: {
        Name: name.value.trim(),
        Scopes: chosen.value,
        ...(forDatabases && named.length > 0 ? { Databases: named } : {}),
        ...(days.value ? { LifetimeSeconds: Math.round(Number(days.value) * DaySeconds) } : {}),
      },
    })
  }
  return (
    <AccessForm
      title="New token"
      verb="Create the token"
      name={name}
      hint="Who or what uses it: 1 to 63 lower-case letters, digits and hyphens."
      isReady={chosen.value.length > 0}
      make={make}
      show={({ Token, Notice }) => ({
        title: `The token ${name.value}`,
        done: "I have stored it",
        content: (
          <>
            <p>
              The token is shown <strong>this once</strong>. Anyone who has it has its rights.
            </p>
            <Copyable text={Token} />
            {Notice && <p class="warning">{Notice}</p>}
          </>
        ),
      })}
      onClose={onClose}
    >
      <fieldset class="ticks">
        <legend>Rights</legend>
        {scopes.map(({ scope, what }) => (
          <label key={scope} class="tick">
            <input
              type="checkbox"
              checked={chosen.value.includes(scope)}
              onChange={(event) => {
                const others = chosen.value.filter((other) => other !== scope)
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
        <Field label="Only in these databases" hint="Names with commas between them. Empty: in all databases.">
          <WordInput of={databases} />
        </Field>
      )}
      <Field label="Days until it ends" hint="Empty: the token is valid until it is revoked.">
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
    </AccessForm>
  )
}
