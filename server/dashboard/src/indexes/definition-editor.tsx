import { useSignal } from "@preact/signals"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { CodeEditor } from "../documents/code-editor"
import { highlightScript } from "../documents/highlight"
import { pathOf } from "../documents/store"
import { Button, ErrorSentence, Field, toast } from "../shell/parts"
import { ask, Refusal } from "../shell/request"
import { may } from "../shell/session"
import { type IndexDefinition, type PlaceOfError, placeOfError, toPut } from "./definition"
import { draftOf, dropDefinition, keepDefinition } from "./drafts"
import { FieldsEditor } from "./fields-editor"

interface DefinitionEditorProps {
  database: string
  /** Name of the index; empty for a new one. */
  name: string
  /** The stored definition, or the one that a new index begins with. */
  definition: IndexDefinition
  isNew: boolean
  onStored: (name: string) => void
  /** Called when the user discards a new index. */
  onDiscard?: () => void
}

const textOf = (definition: IndexDefinition) => JSON.stringify(toPut(definition))

/**
 * The editor of an index's texts and options. Errors that the node reports are marked at their positions. What was not
 * saved is kept when the editor is closed, and is there when it is opened again.
 */
export function DefinitionEditor({ database, name, definition, isNew, onStored, onDiscard }: DefinitionEditorProps) {
  const kept = useMemo(() => draftOf(database, name), [])
  const base = useRef(kept?.base ?? definition)
  const draft = useSignal(kept?.definition ?? definition)
  const place = useSignal<PlaceOfError | null>(null)
  const trouble = useSignal<unknown>(null)
  const isSaving = useSignal(false)
  const isAutomatic = definition.Type === "AutoMap"
  const isEdited = textOf(draft.value) !== textOf(definition)
  const isChanged = isNew || isEdited
  const mayEdit = may("write", database) && !isAutomatic
  const change = (part: Partial<IndexDefinition>) => {
    draft.value = { ...draft.value, ...part }
    place.value = null
    trouble.value = null
  }

  useLayoutEffect(() => {
    // The base of an index that was deleted meanwhile is stored nowhere either.
    if (isEdited || (isNew && name !== "")) keepDefinition(database, name, { base: base.current, definition: draft.value })
    else dropDefinition(database, name)
  }, [draft.value, isEdited])

  const discard = () => {
    dropDefinition(database, name)
    base.current = definition
    change(definition)
    onDiscard?.()
  }

  const save = async () => {
    if (!isChanged || isSaving.value || !mayEdit) return
    isSaving.value = true
    place.value = null
    trouble.value = null
    const sent = draft.value
    const stored = sent.Name.trim()
    try {
      await ask(pathOf(database, "indexes"), { method: "PUT", body: { Indexes: [toPut(sent)] } })
      base.current = sent
      dropDefinition(database, name)
      // The text that was typed while the index was being stored.
      if (draft.value !== sent) keepDefinition(database, stored, { base: sent, definition: { ...draft.value, Name: stored } })
      toast(isNew ? `The index ${stored} is being built.` : "The new definition is being built beside the old one.", {
        tone: "good",
      })
      onStored(stored)
    } catch (failure) {
      trouble.value = failure
      place.value = failure instanceof Refusal ? placeOfError(failure.message, draft.value) : null
    } finally {
      isSaving.value = false
    }
  }

  const { Name, Maps, Reduce } = draft.value
  const wrongIn = (text: "map" | "reduce", at = 0) => (place.value?.text === text && place.value.map === at ? place.value.at : null)
  return (
    <div class="stack">
      {isAutomatic && (
        <p class="quiet">
          Queries created this index, and add fields to it when they need them. It cannot be edited. If it is deleted, the next query that
          needs it creates it again.
        </p>
      )}
      {isNew && (
        <Field label="Name" hint="Usually COLLECTION/ByField">
          <input
            class="input id-input"
            autocapitalize="off"
            spellcheck={false}
            value={Name}
            onInput={(event) => change({ Name: event.currentTarget.value })}
          />
        </Field>
      )}
      {Maps.map((map, at) => (
        <div key={at} class="field">
          <div class="text-title">
            <span class="text-name">{Maps.length > 1 ? `Map ${at + 1}` : "Map"}</span>
            {mayEdit && Maps.length > 1 && (
              <Button
                kind="plain danger"
                label={`Remove map ${at + 1}`}
                onClick={() => change({ Maps: Maps.filter((_, other) => other !== at) })}
              >
                Remove
              </Button>
            )}
          </div>
          <CodeEditor
            label={`Map ${at + 1}`}
            value={map}
            onInput={(value) => change({ Maps: Maps.with(at, value) })}
            highlight={highlightScript}
            wrongAt={wrongIn("map", at)}
            onSave={save}
            readOnly={!mayEdit}
            lines={[3, 20]}
          />
          {wrongIn("map", at) !== null && <span class="wrong">{place.value?.message}</span>}
        </div>
      ))}
      {Reduce !== null && (
        <div class="field">
          <div class="text-title">
            <span class="text-name">Reduce</span>
            {mayEdit && (
              <Button kind="plain danger" label="Remove the reduce" onClick={() => change({ Reduce: null })}>
                Remove
              </Button>
            )}
          </div>
          <CodeEditor
            label="Reduce"
            value={Reduce}
            onInput={(value) => change({ Reduce: value })}
            highlight={highlightScript}
            wrongAt={wrongIn("reduce")}
            onSave={save}
            readOnly={!mayEdit}
            lines={[3, 20]}
          />
          {wrongIn("reduce") !== null && <span class="wrong">{place.value?.message}</span>}
        </div>
      )}
      {mayEdit && (
        <div class="actions">
          <Button kind="plain" onClick={() => change({ Maps: [...Maps, ""] })}>
            Add a map
          </Button>
          {Reduce === null && (
            <Button kind="plain" onClick={() => change({ Reduce: "" })}>
              Add a reduce
            </Button>
          )}
        </div>
      )}
      <FieldsEditor fields={draft.value.Fields} configuration={draft.value.Configuration} mayEdit={mayEdit} onChange={change} />
      <ErrorSentence of={trouble.value && !place.value ? trouble.value : null} />
      {mayEdit && (
        <div class="actions">
          <Button kind="primary" disabled={!isChanged || Name.trim() === ""} busy={isSaving.value} title="Ctrl+S" onClick={save}>
            {isNew ? "Create index" : "Save definition"}
          </Button>
          {isNew && <Button onClick={discard}>Discard</Button>}
          {isChanged && !isNew && (
            <>
              <Button onClick={discard}>Discard changes</Button>
              <span class="quiet">
                {textOf(base.current) === textOf(definition)
                  ? "The old definition answers queries until the new one has caught up."
                  : "The stored definition has changed since you began. Saving replaces it."}
              </span>
            </>
          )}
        </div>
      )}
    </div>
  )
}
