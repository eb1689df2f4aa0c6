import { useSignal } from "@preact/signals"
import { readOf } from "../documents/store"
import { readHistory } from "../query/history"
import { nameInRql, textInRql } from "../query/rql-text"
import { count, moment } from "../shell/format"
import { Empty, ErrorSentence, LinkButton, Panel, Tabs, useAsked } from "../shell/parts"
import { hrefOf, route } from "../shell/route"
import { storage } from "../shell/storage"
import type { IndexDefinition } from "./definition"
import { DefinitionEditor } from "./definition-editor"
import { draftOf } from "./drafts"
import { ConditionTag, IndexProgressBar, ReplacementTag } from "./index-condition"
import { IndexErrors } from "./index-errors"
import { IndexMenu } from "./index-menu"
import { conditionOf, errorsOf, kindOf, type ListedIndex } from "./index-state"
import { TermsBrowser } from "./terms-browser"
import { useIndexes } from "./use-indexes"

type View = "definition" | "errors" | "terms" | "queries"

/** The details of one index: state, definition, errors, terms, and recent queries. */
export function IndexDetails({ database, name }: { database: string; name: string }) {
  const { indexes, trouble, refresh } = useIndexes(database)
  const definitions = useAsked<{ Results: IndexDefinition[] }>(readOf(database, "indexes", { name }))
  const view = useSignal<View>(route.peek().query.get("view") === "errors" ? "errors" : "definition")
  const index = indexes?.find((candidate) => candidate.Name.toLowerCase() === name.toLowerCase())
  const definition = definitions.data.value?.Results[0]
  const stored = () => void Promise.all([refresh(), definitions.refresh()])
  if (indexes && !index) {
    const draft = draftOf(database, name)
    return (
      <>
        <Empty title={`There is no index ${name}.`}>
          <LinkButton href={hrefOf("indexes", database)}>All indexes of {database}</LinkButton>
        </Empty>
        {draft && (
          <Panel title="What you had not saved">
            <DefinitionEditor database={database} name={name} definition={draft.base} isNew onStored={stored} onDiscard={stored} />
          </Panel>
        )}
      </>
    )
  }

  if (!index || !definition) {
    return trouble || definitions.trouble.value ? (
      <ErrorSentence of={trouble ?? definitions.trouble.value} retry={refresh} />
    ) : (
      <p class="quiet" role="status">
        Loading …
      </p>
    )
  }

  const tabs = [
    { id: "definition" as const, title: "Definition" },
    { id: "errors" as const, title: `Errors (${count(errorsOf(index))})` },
    { id: "terms" as const, title: "Terms" },
    { id: "queries" as const, title: "Queries" },
  ]
  return (
    <>
      <Summary database={database} index={index} refresh={refresh} trouble={trouble} />
      <section class="panel" aria-label={`About ${index.Name}`}>
        <Tabs
          label="About the index"
          tabs={tabs}
          chosen={view.value}
          onChoose={(id) => {
            view.value = id
          }}
        >
          <div class="tab-content">
            {view.value === "definition" && (
              <DefinitionEditor key={name} database={database} name={name} definition={definition} isNew={false} onStored={stored} />
            )}
            {view.value === "errors" && <IndexErrors database={database} index={index} refresh={refresh} />}
            {view.value === "terms" && <TermsBrowser database={database} definition={definition} />}
            {view.value === "queries" && <Queries database={database} index={index} />}
          </div>
        </Tabs>
      </section>
    </>
  )
}

function Summary({
  database,
  index,
  refresh,
  trouble,
}: {
  database: string
  index: ListedIndex
  refresh: () => Promise<void>
  trouble: unknown
}) {
  const { means } = conditionOf(index)
  return (
    <Panel title="On this node" stale={trouble !== null} actions={<IndexMenu database={database} index={index} refresh={refresh} />}>
      <div class="stack">
        <p class="facts">
          <ConditionTag index={index} />
          <span>{means}</span>
          <span>{count(index.EntriesCount)} entries</span>
          <span class="quiet">{kindOf(index.Type)}</span>
          {index.LastIndexingTime && <span class="quiet">last work {moment(index.LastIndexingTime)}</span>}
        </p>
        <ErrorSentence of={index.Trouble} />
        <IndexProgressBar index={index} />
        {index.replacement && (
          <>
            <p class="facts">
              <ReplacementTag replacement={index.replacement} />
              <span>
                {index.replacement.State === "Error"
                  ? "The changed definition does not replace the old one, which still answers queries. Save a corrected definition."
                  : "A changed definition is being built. Until it has caught up, the old one answers queries."}
              </span>
            </p>
            <IndexProgressBar index={index.replacement} />
            <ErrorSentence of={index.replacement.Trouble} />
          </>
        )}
      </div>
    </Panel>
  )
}

/** The queries of this browser that the index answered. Nodes do not record queries. */
function Queries({ database, index }: { database: string; index: ListedIndex }) {
  const answered = readHistory(storage, database).filter((query) => query.index?.toLowerCase() === index.Name.toLowerCase())
  const hrefOfQuery = (text: string) => `${hrefOf("query", database)}?q=${encodeURIComponent(text)}`
  return (
    <div class="stack">
      {answered.length === 0 ? (
        <Empty title="This index answered no query of this browser.">A node does not record queries.</Empty>
      ) : (
        <ul class="history">
          {answered.map((query) => (
            <li key={query.at}>
              <a href={hrefOfQuery(query.text)}>
                <code>{query.text}</code>
              </a>
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        <LinkButton href={hrefOfQuery(`from index ${index.Name.includes("'") ? nameInRql(index.Name) : textInRql(index.Name)}`)}>
          Query it
        </LinkButton>
      </div>
    </div>
  )
}
