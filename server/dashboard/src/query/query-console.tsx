import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { CodeEditor } from "../documents/code-editor"
import { highlightJson } from "../documents/highlight"
import { parseJson } from "../documents/json-text"
import { pathOf } from "../documents/store"
import { count } from "../shell/format"
import { useLeaving } from "../shell/leaving"
import { manualHref } from "../shell/manual-href"
import { Button, Copyable, ErrorSentence, Menu, Panel } from "../shell/parts"
import { Refusal } from "../shell/request"
import { hrefOf, replaceHash, route } from "../shell/route"
import { may, session } from "../shell/session"
import { storage } from "../shell/storage"
import { askPlan, askQuery, bodyOf, isSameQuery, type Plan, type QueryAnswer, type Question } from "./ask-query"
import { ChangeByQuery } from "./change-by-query"
import { curlLine } from "./curl"
import { type ErrorAtPlace, errorOfQuery } from "./error-place"
import { forgetHistory, readHistory, remember } from "./history"
import { HistoryList } from "./history-list"
import { useKnown } from "./known"
import { PlanPanel } from "./plan-panel"
import { QueryOptions } from "./query-options"
import { ResultsPanel } from "./results-panel"
import { complete, LongestHelped } from "./rql-completion"
import { hasClause, highlightRql, parametersOf } from "./rql-text"
import { LongestParameters, LongestQuery, TooLong } from "./too-long"

const PageSize = 50
const LongestInAddress = 2000

/** What was typed last on each database's page, until the browser's page is closed. */
const typed = new Map<string, { text: string; parameters: string }>()

/** The query's text, parameters, options and results. */
export function QueryConsole({ database }: { database: string }) {
  const past = useSignal(readHistory(storage, database))
  const asked = route.value.query.get("q")
  const before = typed.get(database)?.text ? typed.get(database) : past.peek()[0]
  // An address has only the query's text.
  const parametersFor = (query: string) => past.peek().find((entry) => entry.text === query)?.parameters ?? ""
  const text = useSignal(asked ?? before?.text ?? "")
  const parameters = useSignal(asked === null ? (before?.parameters ?? "") : parametersFor(asked))
  typed.set(database, { text: text.value, parameters: parameters.value })
  const options = useSignal({ timings: true, waits: false, seconds: 15 })
  const answer = useSignal<(QueryAnswer & { start: number; of: Question }) | null>(null)
  const plan = useSignal<Plan | null>(null)
  const trouble = useSignal<ErrorAtPlace | null>(null)
  const running = useSignal<AbortController | null>(null)
  const change = useSignal<"delete" | "patch" | null>(null)
  const ran = useRef<string | null>(null)
  const leaving = useLeaving()
  const known = useKnown(database, text.value.length > LongestHelped ? "" : text.value)
  const completeWith = () => (query: string, caret: number) => complete(query, caret, known)
  const completeKnown = useMemo(completeWith, [JSON.stringify(known)])

  const isTooLong = text.value.length > LongestQuery
  const isPatch = !isTooLong && hasClause(text.value, "update")
  const names = isTooLong ? [] : parametersOf(text.value)
  // Parsed once, because they may be long and do not change while the query is typed.
  const readParameters = useMemo(() => parseJson(parameters.value), [parameters.value])
  const parameterFault = parameters.value.trim() === "" ? null : readParameters.fault
  const given = readParameters.node?.members?.map((member) => member.name) ?? []
  const missing = names.filter((name) => !given.includes(name))
  const isAskable = text.value.trim() !== "" && !isTooLong && parameterFault === null
  // Of the text to run, which the link may have set just now.
  const isRunnable = (of: Question) =>
    of.text.trim() !== "" &&
    of.text.length <= LongestQuery &&
    !hasClause(of.text, "update") &&
    (of.parameters.trim() === "" || parseJson(of.parameters).fault === null)

  /** Discards results of another query. Keeps results of this one, and the position in them, if a new request fails. */
  const fail = (failure: unknown, question: Question) => {
    if (answer.value && !isSameQuery(answer.value.of, question)) answer.value = null
    trouble.value = errorOfQuery(failure instanceof Refusal ? failure.message : String(failure), question.text)
  }

  const run = async (start = 0) => {
    const of = { text: text.value, parameters: parameters.value }
    if (!isRunnable(of)) return
    running.value?.abort()
    const control = new AbortController()
    running.value = control
    trouble.value = null
    const place = hrefOf("query", database)
    replaceHash(of.text.length <= LongestInAddress ? `${place}?q=${encodeURIComponent(of.text)}` : place)
    // The address is that of this query now. The effect below must not run it again.
    ran.current = of.text.length <= LongestInAddress ? of.text : null
    try {
      const waitSeconds = options.value.waits ? options.value.seconds : null
      const found = await askQuery(
        database,
        { ...of, start, pageSize: PageSize, waitSeconds, timings: options.value.timings },
        control.signal,
      )
      answer.value = { ...found, start, of: { ...of, waitSeconds } }
      past.value = remember(storage, database, {
        ...of,
        at: Date.now(),
        milliseconds: found.serverMilliseconds,
        total: found.total,
        index: found.index,
      })
    } catch (failure) {
      if (!control.signal.aborted) fail(failure, of)
    } finally {
      if (running.value === control) running.value = null
    }
  }

  const explain = async () => {
    const of = { text: text.value, parameters: parameters.value }
    try {
      plan.value = await askPlan(database, of, leaving)
      trouble.value = null
    } catch (failure) {
      if (leaving.aborted) return
      plan.value = null
      fail(failure, of)
    }
  }

  // Runs the query of a link at once, because a query changes nothing.
  useEffect(() => {
    if (asked === null || asked === ran.current) return
    text.value = asked
    parameters.value = parametersFor(asked)
    void run()
  }, [asked])
  useEffect(() => () => running.peek()?.abort(), [])

  const isChangeable = !isPatch && isAskable && !hasClause(text.value, "select", "group", "include")
  const curl = curlLine({
    method: isPatch ? "PATCH" : "POST",
    url: location.origin + pathOf(database, "queries"),
    body: isPatch
      ? `{"Query":${bodyOf({ text: text.value, parameters: parameters.value })}}`
      : bodyOf({ text: text.value, parameters: parameters.value }),
    needsToken: session.value?.By !== "open",
    isSecure: session.value?.IsSecure ?? false,
  })
  return (
    <>
      <Panel
        title="RQL"
        actions={
          <>
            <a href={manualHref("/help/reference/rql.md")}>What can be asked</a>
            {/* Not beside Run, where a user might press it by habit. */}
            {may("write", database) && !isPatch && (
              <Menu
                label="More actions on this query"
                actions={[
                  {
                    title: "Delete what it finds …",
                    danger: true,
                    disabled: !isChangeable,
                    hint: isChangeable ? "Asks first" : "Not with select, group by or include",
                    onClick: () => {
                      change.value = "delete"
                    },
                  },
                ]}
              />
            )}
          </>
        }
      >
        <div class="stack">
          {isTooLong ? (
            <TooLong
              what="This query"
              length={text.value.length}
              help={`A node takes ${count(LongestQuery)} at most: put long lists into parameters, or bring documents in by Import.`}
              onEmpty={() => {
                text.value = ""
              }}
            />
          ) : (
            <CodeEditor
              label="Query in RQL"
              value={text.value}
              onInput={(value) => {
                text.value = value
                trouble.value = null
              }}
              highlight={highlightRql}
              wrongAt={trouble.value?.at ?? null}
              complete={completeKnown}
              onRun={() => (isPatch ? undefined : run())}
              lines={[4, 16]}
            />
          )}
          {trouble.value && <ErrorSentence of={trouble.value.message} />}
          {(names.length > 0 || parameters.value.trim() !== "") && (
            <div class="field">
              <label>Parameters</label>
              {parameters.value.length > LongestParameters ? (
                <TooLong
                  what="This object"
                  length={parameters.value.length}
                  help="It is sent as it is."
                  onEmpty={() => {
                    parameters.value = ""
                  }}
                />
              ) : (
                <CodeEditor
                  label="Parameters as JSON"
                  value={parameters.value}
                  onInput={(value) => {
                    parameters.value = value
                  }}
                  highlight={highlightJson}
                  wrongAt={parameterFault?.at ?? null}
                  onRun={() => run()}
                  lines={[2, 10]}
                />
              )}
              {parameterFault && <span class="wrong">{parameterFault.message}</span>}
              {!parameterFault && missing.length > 0 && (
                <span class="actions">
                  <span class="hint">Without a value: {missing.map((name) => `$${name}`).join(", ")}.</span>
                  <Button
                    kind="plain"
                    onClick={() => {
                      parameters.value = withMembers(parameters.value, missing)
                    }}
                  >
                    Put {missing.length === 1 ? "it" : "them"} in
                  </Button>
                </span>
              )}
            </div>
          )}
          <div class="actions">
            {isPatch ? (
              <Button
                kind="danger primary"
                disabled={!isAskable || !may("write", database)}
                onClick={() => {
                  change.value = "patch"
                }}
              >
                Patch what it finds …
              </Button>
            ) : (
              <Button kind="primary" disabled={!isAskable} busy={running.value !== null} title="Ctrl+Enter" onClick={() => void run()}>
                Run
              </Button>
            )}
            {running.value && <Button onClick={() => running.value?.abort()}>Stop</Button>}
            <Button disabled={!isAskable || isPatch} onClick={explain}>
              Explain
            </Button>
            <QueryOptions
              options={options.value}
              onChange={(next) => {
                options.value = next
              }}
            />
          </div>
          {!isTooLong && (
            <details class="fold">
              <summary>As a line for the shell</summary>
              <Copyable text={curl} />
            </details>
          )}
          <HistoryList
            queries={past.value}
            onChoose={(query) => {
              text.value = query.text
              parameters.value = query.parameters
              trouble.value = null
            }}
            onForget={() => {
              forgetHistory(storage, database)
              past.value = []
            }}
          />
        </div>
      </Panel>
      <ChangeByQuery
        database={database}
        kind={change.value}
        text={text.value}
        parameters={parameters.value}
        onClose={() => {
          change.value = null
        }}
      />
      {plan.value && (
        <PlanPanel
          plan={plan.value}
          database={database}
          onClose={() => {
            plan.value = null
          }}
        />
      )}
      {answer.value && (
        <ResultsPanel
          database={database}
          answer={answer.value}
          pageSize={PageSize}
          isRunning={running.value !== null}
          onPage={(start) => void run(start)}
        />
      )}
    </>
  )
}

/** Adds missing parameters as null. */
function withMembers(parameters: string, names: string[]): string {
  const members = names.map((name) => `  ${JSON.stringify(name)}: null`).join(",\n")
  const text = parameters.trim()
  const { node } = parseJson(text)
  return node?.members && node.members.length > 0 ? `${text.slice(0, -1).trimEnd()},\n${members}\n}` : `{\n${members}\n}`
}
