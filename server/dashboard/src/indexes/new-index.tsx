import { useSignal } from "@preact/signals"
import { type CollectionStatistics, readOf } from "../documents/store"
import { useLeaving } from "../shell/leaving"
import { manualHref } from "../shell/manual-href"
import { Button, ErrorSentence, Panel, useAsked } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { type IndexDefinition, Templates } from "./definition"
import { DefinitionEditor } from "./definition-editor"
import { draftOf } from "./drafts"

/** Creates an index from a template. */
export function NewIndex({ database }: { database: string }) {
  const statistics = useAsked<CollectionStatistics>(readOf(database, "collections/stats/detailed"))
  const collections = Object.keys(statistics.data.value?.Collections ?? {}).filter((name) => !name.startsWith("@"))
  const leaving = useLeaving()
  const collection = useSignal("")
  const chosen = useSignal<IndexDefinition | null>(draftOf(database, "")?.base ?? null)
  const from = collection.value || (collections[0] ?? "Users")
  if (chosen.value) {
    return (
      <Panel title="New index">
        <DefinitionEditor
          database={database}
          name=""
          definition={chosen.value}
          isNew
          onDiscard={() => {
            chosen.value = null
          }}
          onStored={(name) => {
            if (!leaving.aborted) location.hash = hrefOf("indexes", database, name)
          }}
        />
      </Panel>
    )
  }

  return (
    <Panel title="Begin with">
      <div class="stack">
        <ErrorSentence of={statistics.trouble.value} />
        <label class="inline-choice">
          Documents of
          <select
            class="input"
            value={from}
            onChange={(event) => {
              collection.value = event.currentTarget.value
            }}
          >
            {(collections.length > 0 ? collections : ["Users"]).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <ul class="templates">
          {Templates.map((template) => (
            <li key={template.title}>
              <div>
                <h3>{template.title}</h3>
                <p class="quiet">{template.explains}</p>
              </div>
              <pre>{[...template.make(from).Maps, template.make(from).Reduce ?? ""].join("\n").trim()}</pre>
              <Button
                label={`Begin with this: ${template.title}`}
                onClick={() => {
                  chosen.value = template.make(from)
                }}
              >
                Begin with this
              </Button>
            </li>
          ))}
        </ul>
        <p class="quiet">
          What maps and reduces can contain: <a href={manualHref("/help/how-to/static-indexes.md")}>Define an index yourself</a>.
        </p>
      </div>
    </Panel>
  )
}
