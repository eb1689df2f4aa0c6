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
  const shown = useSignal<{ of: string; terms: string[]; isWhole: boolean } | null>(null)
  const trouble = useSignal<unknown>(null)
  const asked = useRef(0)

  const leaving = useLeaving()

  const read = async (of: string, after: string, before: string[] = []) => {
    if (of === "") return
    const turn = ++asked.current
    try {
      const answer = await ask<{ Terms: string[] }>(
        readOf(database, "indexes/terms", {
          name: definition.Name,
          field: of,
          fromValue: after === "" ? undefined : after,
          pageSize: PageSize,
        }),
        { signal: leaving },
      )
      if (turn !== asked.current) return
      shown.value = { of, terms: [...before, ...answer.Terms], isWhole: answer.Terms.length < PageSize }
      trouble.value = null
    } catch (failure) {
      if (turn !== asked.current || leaving.aborted) return
      shown.value = null
      trouble.value = failure
    }
  }
  const readTyped = () => read(field.value.trim(), from.value)
  useEffect(() => void readTyped(), [])

  const isAutomatic = definition.Type === "AutoMap"
  // Of the field that was asked for. Another one may be typed meanwhile.
  const list = shown.value
  return (
    <div class="stack">
      <form
        class="terms-form"
        onSubmit={(event) => {
          event.preventDefault()
          void readTyped()
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
              if (known.includes(field.value)) void readTyped()
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
      {list?.terms.length === 0 && <Empty title="The index has no value of this field there." />}
      {list && list.terms.length > 0 && (
        <>
          <ul class="terms">
            {list.terms.map((term) => (
              <li key={term}>
                {isAutomatic && !list.of.includes("(") ? (
                  <a
                    href={`${hrefOf("query", database)}?q=${encodeURIComponent(`from index ${textInRql(definition.Name)} where ${list.of.split(".").map(nameInRql).join(".")} = ${textInRql(term)}`)}`}
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
              {count(list.terms.length)} {list.isWhole ? "values" : "values so far"}
            </span>
            {!list.isWhole && <Button onClick={() => read(list.of, list.terms.at(-1) ?? "", list.terms)}>More</Button>}
          </div>
        </>
      )}
      <p class="quiet hint">The values as this node's index has them: usually in lower case, perhaps also values of deleted documents.</p>
    </div>
  )
}
