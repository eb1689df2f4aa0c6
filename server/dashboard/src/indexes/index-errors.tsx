import { pathOf, readOf } from "../documents/store"
import { moment } from "../shell/format"
import { Button, Empty, ErrorSentence, Table, useAsked } from "../shell/parts"
import { send } from "../shell/request"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import type { ListedIndex } from "./index-state"

interface IndexError {
  Timestamp: string
  Document: string
  Action: string
  Error: string
}

/** The last 500 documents that an index could not index, and the same of its replacement, with the reasons. */
export function IndexErrors({ database, index, refresh }: { database: string; index: ListedIndex; refresh: () => Promise<void> }) {
  const asked = useAsked<{ Results: { Errors: IndexError[] }[] }>(readOf(database, "indexes/errors", { name: index.Name }), 5)
  const errors = asked.data.value?.Results.flatMap((result) => result.Errors)
  const forget = async () => {
    await send(pathOf(database, "indexes/errors", { name: index.Name }), { method: "DELETE" })
    await Promise.all([asked.refresh(), refresh()])
  }
  return (
    <div class="stack">
      <ErrorSentence of={asked.trouble.value} retry={asked.refresh} />
      {errors && (
        <Table
          label="Errors"
          rows={errors.map((error, at) => ({ ...error, at }))}
          keyOf={(error) => error.at}
          empty={<Empty title="No document failed." />}
          columns={[
            {
              title: "Document",
              cell: (error) => (error.Document ? <a href={hrefOf("document", database, error.Document)}>{error.Document}</a> : ""),
              sort: (error) => error.Document,
            },
            { title: "What went wrong", cell: (error) => error.Error },
            { title: "In", cell: (error) => error.Action, wideOnly: true },
            { title: "When", cell: (error) => moment(error.Timestamp), sort: (error) => error.Timestamp, end: true },
          ]}
        />
      )}
      {errors && errors.length > 0 && may("write", database) && (
        <div class="actions">
          <Button onClick={forget}>Forget these errors</Button>
          <span class="quiet">A document is tried again when it changes, or when the index is reset.</span>
        </div>
      )}
    </div>
  )
}
