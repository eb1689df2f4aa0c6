import { count } from "../shell/format"
import { Button, Panel, Table } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { isIndex, type Plan } from "./ask-query"

/** Explains which index would answer the query, and why. Creates no index. */
export function PlanPanel({ plan, database, onClose }: { plan: Plan; database: string; onClose: () => void }) {
  const chosen = plan.Results.find((row) => row.IsChosen)?.Index ?? null
  return (
    <Panel
      title="Plan"
      actions={
        <Button kind="plain" onClick={onClose}>
          Close
        </Button>
      }
    >
      <dl class="figures plan">
        <dt>Answered from</dt>
        <dd>{chosen && isIndex(chosen) ? <a href={hrefOf("indexes", database, chosen)}>{chosen}</a> : (chosen ?? "documents")}</dd>
        {plan.PostingsRead !== undefined && (
          <>
            <dt>Postings read</dt>
            <dd>{count(plan.PostingsRead)}</dd>
          </>
        )}
      </dl>
      <Table
        label="Reasons"
        rows={plan.Results}
        keyOf={(row) => `${row.Index} ${row.Reason}`}
        columns={[
          { title: "Chosen", cell: (row) => (row.IsChosen ? "✓" : "") },
          { title: "Index", cell: (row) => row.Index ?? "documents" },
          { title: "Reason", cell: (row) => row.Reason },
        ]}
      />
    </Panel>
  )
}
