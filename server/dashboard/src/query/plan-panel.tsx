import { count } from "../shell/format"
import { Button, Panel, Table } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { isIndex, type Plan } from "./ask-query"

/** Which index would answer, and why; nothing is made by asking. */
export function PlanPanel({ plan, database, onClose }: { plan: Plan; database: string; onClose: () => void }) {
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
        <dd>{isIndex(plan.IndexName) ? <a href={hrefOf("indexes", database, plan.IndexName)}>{plan.IndexName}</a> : plan.IndexName}</dd>
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
          { title: "Index", cell: (row) => row.Index ?? "" },
          { title: "Reason", cell: (row) => row.Reason },
        ]}
      />
    </Panel>
  )
}
