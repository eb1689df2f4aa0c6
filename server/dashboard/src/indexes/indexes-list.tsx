import { count, moment } from "../shell/format"
import { Empty, ErrorSentence, LinkButton, Panel, Table, Tag } from "../shell/parts"
import { hrefOf } from "../shell/route"
import { may } from "../shell/session"
import { ConditionTag, IndexProgressBar, ReplacementTag } from "./index-condition"
import { IndexMenu } from "./index-menu"
import { errorsOf, kindOf } from "./index-state"
import { useIndexes } from "./use-indexes"

/** All indexes of a database, with state, progress and actions. */
export function IndexesList({ database }: { database: string }) {
  const { indexes, trouble, refresh } = useIndexes(database)
  return (
    <Panel
      title={`Indexes of ${database}`}
      stale={trouble !== null}
      actions={
        may("write", database) && (
          <LinkButton kind="primary" href={`${hrefOf("indexes", database)}?new=`}>
            New index
          </LinkButton>
        )
      }
    >
      <ErrorSentence of={trouble} retry={refresh} />
      {indexes && (
        <Table
          label="Indexes"
          stacks
          rows={indexes}
          keyOf={(index) => index.Name}
          empty={
            <Empty title="There is no index yet.">
              Queries create the indexes that they need. Define one yourself for values that no field has: a computed value, or sums by a
              key.
            </Empty>
          }
          columns={[
            {
              title: "Name",
              sort: (index) => index.Name,
              cell: (index) => (
                <span class="index-name">
                  <a href={hrefOf("indexes", database, index.Name)}>{index.Name}</a>
                  <span class="quiet">{kindOf(index.Type)}</span>
                </span>
              ),
            },
            {
              title: "State",
              sort: (index) => index.State + index.Status + index.IsStale,
              cell: (index) => (
                <span class="index-state">
                  <ConditionTag index={index} />
                  {index.LockMode !== "Unlock" && <Tag title="Definitions of this name are refused or ignored">locked</Tag>}
                  {index.Priority !== "Normal" && <Tag>{index.Priority.toLowerCase()} priority</Tag>}
                  {index.replacement && <ReplacementTag replacement={index.replacement} />}
                  {index.Trouble && <span class="bad">{index.Trouble}</span>}
                  {index.replacement?.Trouble && <span class="bad">The changed definition: {index.replacement.Trouble}</span>}
                  <IndexProgressBar index={index.replacement ?? index} />
                </span>
              ),
            },
            { title: "Entries", cell: (index) => count(index.EntriesCount), sort: (index) => index.EntriesCount, end: true },
            {
              title: "Errors",
              sort: errorsOf,
              end: true,
              cell: (index) =>
                errorsOf(index) === 0 ? (
                  "0"
                ) : (
                  <a href={`${hrefOf("indexes", database, index.Name)}?view=errors`}>{count(errorsOf(index))}</a>
                ),
            },
            {
              title: "Last work",
              wideOnly: true,
              end: true,
              cell: (index) =>
                index.LastIndexingTime ? (
                  <time dateTime={index.LastIndexingTime}>{moment(index.LastIndexingTime)}</time>
                ) : (
                  <span class="quiet">none</span>
                ),
            },
            {
              title: "Actions",
              unseenTitle: true,
              end: true,
              cell: (index) => <IndexMenu database={database} index={index} refresh={refresh} isBrief />,
            },
          ]}
        />
      )}
    </Panel>
  )
}
