import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { StoredDocument } from "../documents/document-text"
import { isOutcomeUnknown } from "../documents/store"
import { NumberInput } from "../shell/number-input"
import { Button, Confirm, ErrorSentence, Field, Menu, Panel, sentenceOf, toast, WorkDialog } from "../shell/parts"
import { type Counter, deleteCounter, deltaProblem, grouped, increment, newKey, readCounters } from "./counters"

interface CountersPanelProps {
  database: string
  stored: StoredDocument
  mayWrite: boolean
  onAdd: () => void
  onChanged: () => Promise<unknown>
}

/** The counters of a document that has some, with their values. */
export function CountersPanel({ database, stored, mayWrite, onAdd, onChanged }: CountersPanelProps) {
  const counters = useSignal<Counter[] | null>(null)
  const trouble = useSignal<unknown>(null)
  const reads = useSignal(0)
  const [raised, dropped] = [useSignal<Counter | null>(null), useSignal<Counter | null>(null)]
  const again = () => {
    reads.value++
  }
  useEffect(() => {
    const leaving = new AbortController()
    readCounters(database, stored.id, leaving.signal).then(
      (read) => {
        counters.value = read
        trouble.value = null
      },
      (failure) => {
        if (!leaving.signal.aborted) trouble.value = failure
      },
    )
    return () => leaving.abort()
  }, [stored, reads.value])
  return (
    <Panel
      title="Counters"
      actions={
        <>
          <Button kind="plain" onClick={again}>
            Read again
          </Button>
          {mayWrite && (
            <Button kind="plain" onClick={onAdd}>
              New
            </Button>
          )}
        </>
      }
    >
      <ErrorSentence of={trouble.value} retry={again} />
      {counters.value === null ? (
        trouble.value === null && (
          <p class="quiet" role="status">
            Loading …
          </p>
        )
      ) : (
        <ul class="belongings">
          {counters.value.map((counter) => (
            <li key={counter.name}>
              <span>{counter.name}</span>
              <span class="number">{grouped(counter.value)}</span>
              {mayWrite && (
                <Menu
                  label={`Actions on ${counter.name}`}
                  actions={[
                    {
                      title: "Add to it …",
                      onClick: () => {
                        raised.value = counter
                      },
                    },
                    {
                      title: "Delete …",
                      danger: true,
                      onClick: () => {
                        dropped.value = counter
                      },
                    },
                  ]}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {raised.value && (
        <IncrementDialog
          database={database}
          id={stored.id}
          name={raised.value.name}
          onDone={async () => again()}
          onClose={() => {
            raised.value = null
          }}
        />
      )}
      {dropped.value && (
        <Confirm
          title={`Delete the counter ${dropped.value.name}?`}
          verb="Delete"
          danger
          onConfirm={async () => {
            await deleteCounter(database, stored.id, dropped.value?.name ?? "")
            toast(`The counter ${dropped.value?.name} is deleted.`)
            await onChanged()
          }}
          onClose={() => {
            dropped.value = null
          }}
        >
          <p>Its value {grouped(dropped.value.value)} is lost.</p>
        </Confirm>
      )}
    </Panel>
  )
}

interface IncrementDialogProps {
  database: string
  id: string
  /** The counter; null for a new one, whose name is asked for. */
  name: string | null
  onDone: () => Promise<unknown>
  onClose: () => void
}

/** Asks by how much to change a counter. A repetition after an error adds nothing twice. */
export function IncrementDialog({ database, id, name, onDone, onClose }: IncrementDialogProps) {
  const wanted = useSignal(name ?? "")
  const delta = useSignal(name === null ? "0" : "1")
  const key = useRef({ of: "", key: "" })
  const problem = deltaProblem(delta.value)
  const work = async () => {
    const value = BigInt(delta.value.trim().replace(/^\+/, ""))
    const of = `${value} ${wanted.value}`
    if (key.current.of !== of) key.current = { of, key: newKey() }
    try {
      await increment(database, id, wanted.value.trim(), value, key.current.key)
    } catch (failure) {
      if (!isOutcomeUnknown(failure)) throw failure
      throw new Error(`${sentenceOf(failure)} It is not known whether it was counted. Press again: it will not count twice.`)
    }

    onClose()
    await onDone()
  }
  return (
    <WorkDialog
      title={name === null ? "New counter" : `Add to ${name}`}
      verb={name === null ? "Create" : "Add"}
      isReady={wanted.value.trim() !== "" && problem === null}
      work={work}
      onClose={onClose}
    >
      {name === null && (
        <Field label="Name" hint="At most 512 bytes. Casing does not matter.">
          <input
            class="input"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={wanted.value}
            onInput={(event) => {
              wanted.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      <Field
        label={name === null ? "Value" : "Increment"}
        {...(name === null ? {} : { hint: "A negative number subtracts." })}
        wrong={problem}
      >
        <NumberInput text={delta} />
      </Field>
    </WorkDialog>
  )
}
