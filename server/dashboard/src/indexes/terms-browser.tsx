import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { readOf } from "../documents/store"
import { nameInRql, textInRql } from "../query/rql-text"
import { count } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { Button, Empty, ErrorSentence, Field } from "../shell/parts"
import { ask } from "../shell/request"
import { hrefOf } from "../shell/route"
import { fieldNamesOf, type IndexDefinition } from "./definition"

const PageSize = 200

/** The indexed values of a field, in order. */
export function TermsBrowser({ database, definition }: { database: string; definition: IndexDefinition }) {
  const known = fieldNamesOf(definition)
  const field = useSignal(known[0] ?? "")
  const from = useSignal("")
  const terms = useSignal<string[] | null>(null)
  const isWhole = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const asked = useRef(0)

  const leaving = useLeaving()

  const read = async (after: string, before: string[]) => {
    if (field.value.trim() === "") return
    const turn = ++asked.current
    try {
      const answer = await ask<{ Terms: string[] }>(
        readOf(database, "indexes/terms", {
          name: definition.Name,
          field: field.value.trim(),
          fromValue: after === "" ? undefined : after,
          pageSize: PageSize,
        }),
        { signal: leaving },
      )
      if (turn !== asked.current) return
      terms.value = [...before, ...answer.Terms]
      isWhole.value = answer.Terms.length < PageSize
      trouble.value = null
    } catch (failure) {
      if (turn !== asked.current || leaving.aborted) return
      terms.value = null
      trouble.value = failure
    }
  }
  useEffect(() => void read("", []), [])

  const isAutomatic = definition.Type === "AutoMap"
  return (
    <div class="stack">
      <form
        class="terms-form"
        onSubmit={(event) => {
          event.preventDefault()
          void read(from.value, [])
        }}
      >
        <Field label="Field" hint="search(NAME) for the words of a full-text field">
          <input
            class="input"
            list="index-fields"
            autocapitalize="off"
            spellcheck={false}
            value={field.value}
            onInput={(event) => {
              field.value = event.currentTarget.value
              if (known.includes(field.value)) void read(from.value, [])
            }}
          />
        </Field>
        <datalist id="index-fields">
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field label="After the value">
          <input
            class="input"
            autocapitalize="off"
            spellcheck={false}
            value={from.value}
            onInput={(event) => {
              from.value = event.currentTarget.value
            }}
          />
        </Field>
        <Button type="submit">Show</Button>
      </form>
      <ErrorSentence of={trouble.value} />
      {terms.value?.length === 0 && <Empty title="The index has no value of this field there." />}
      {terms.value && terms.value.length > 0 && (
        <>
          <ul class="terms">
            {terms.value.map((term) => (
              <li key={term}>
                {isAutomatic && !field.value.includes("(") ? (
                  <a
                    href={`${hrefOf("query", database)}?q=${encodeURIComponent(`from index ${textInRql(definition.Name)} where ${field.value.split(".").map(nameInRql).join(".")} = ${textInRql(term)}`)}`}
                  >
                    {term}
                  </a>
                ) : (
                  <span>{term}</span>
                )}
              </li>
            ))}
          </ul>
          <div class="pages">
            <span class="quiet number">
              {count(terms.value.length)} {isWhole.value ? "values" : "values so far"}
            </span>
            {!isWhole.value && <Button onClick={() => read(terms.value?.at(-1) ?? "", terms.value ?? [])}>More</Button>}
          </div>
        </>
      )}
      <p class="quiet hint">The values as this node's index has them: usually in lower case, perhaps also values of deleted documents.</p>
    </div>
  )
}
