import { useSignal } from "@preact/signals"
import { CodeEditor } from "../documents/code-editor"
import { highlightScript } from "../documents/highlight"
import { pathOf } from "../documents/store"
import { Button, ErrorSentence, Field, toast } from "../shell/parts"
import { ask, Refusal } from "../shell/request"
import { may } from "../shell/session"
import { type IndexDefinition, type PlaceOfError, placeOfError, toPut } from "./definition"
import { FieldsEditor } from "./fields-editor"

interface DefinitionEditorProps {
  database: string
  definition: IndexDefinition
  isNew: boolean
  onStored: (name: string) => void
}

/** The editor of an index's texts and options. Errors that the node reports are marked at their positions. */
export function DefinitionEditor({ database, definition, isNew, onStored }: DefinitionEditorProps) {
  const draft = useSignal(definition)
  const place = useSignal<PlaceOfError | null>(null)
  const trouble = useSignal<unknown>(null)
  const isSaving = useSignal(false)
  const isAutomatic = definition.Type === "AutoMap"
  const isChanged = isNew || JSON.stringify(toPut(draft.value)) !== JSON.stringify(toPut(definition))
  const mayEdit = may("write", database) && !isAutomatic
  const change = (part: Partial<IndexDefinition>) => {
    draft.value = { ...draft.value, ...part }
    place.value = null
    trouble.value = null
  }

  const save = async () => {
    if (!isChanged || isSaving.value || !mayEdit) return
    isSaving.value = true
    place.value = null
    trouble.value = null
    try {
      await ask(pathOf(database, "indexes"), { method: "PUT", body: { Indexes: [toPut(draft.value)] } })
      toast(isNew ? `The index ${draft.value.Name.trim()} is being built.` : "The new definition is being built beside the old one.", {
        tone: "good",
      })
      onStored(draft.value.Name.trim())
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
          {isChanged && !isNew && (
            <>
              <Button onClick={() => change(definition)}>Discard changes</Button>
              <span class="quiet">The old definition answers queries until the new one has caught up.</span>
            </>
          )}
        </div>
      )}
    </div>
  )
}
