import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { type Addition, AddMenu, Belongings } from "../belongings/belongings"
import { bytes, moment } from "../shell/format"
import { Panel } from "../shell/parts"
import { hrefOf } from "../shell/route"
import type { StoredDocument } from "./document-text"
import { Expiry } from "./expiry"
import { linksOf } from "./id-links"
import { memberOf, parseJson, stringOf, utf8Length } from "./json-text"
import { existing } from "./store"

const CheckMilliseconds = 600

interface DocumentFactsProps {
  database: string
  stored: StoredDocument | null
  text: string
  isGood: boolean
  /** Whether the text differs from what is stored. */
  isChanged: boolean
  /** Called after a change of attachments, counters or revisions. */
  onBelongings: () => Promise<unknown>
  onRestored: () => Promise<unknown>
}

/** Metadata and size of a document, what belongs to it, and links to documents that it refers to. */
export function DocumentFacts({ database, stored, text, isGood, isChanged, onBelongings, onRestored }: DocumentFactsProps) {
  const added = useSignal<Addition>(null)
  const expires = useMemo(() => expiresIn(text), [text])
  return (
    <div class="stack">
      <Panel title="Metadata" actions={stored && <AddMenu database={database} stored={stored} added={added} onChanged={onBelongings} />}>
        <dl class="figures">
          {stored && (
            <>
              <dt>Collection</dt>
              <dd>
                {stored.collection === "@empty" ? (
                  "none"
                ) : (
                  <a href={hrefOf("documents", database, stored.collection)}>{stored.collection}</a>
                )}
              </dd>
              <dt>Changed</dt>
              <dd>
                <time dateTime={stored.lastModified}>{moment(stored.lastModified)}</time>
              </dd>
              <dt>Change vector</dt>
              <dd>
                <code>{stored.changeVector}</code>
              </dd>
            </>
          )}
          <dt>Size</dt>
          <dd>{bytes(stored && text === stored.text ? stored.bytes : utf8Length(text))}</dd>
          <dt>Expires</dt>
          <dd>{expires === null ? "never" : <Expiry at={expires} />}</dd>
        </dl>
        <details class="hint-details">
          <summary>What can stand in @metadata</summary>
          <p>
            <code>@collection</code> names the collection. <code>@expires</code> with a time, as in <code>"2027-01-31T12:00:00Z"</code>, has
            the document deleted within a minute after it. <code>@refresh</code> and <code>@archive-at</code> act at their time if the
            database is set so. Members of your own are kept as they are. The node itself adds <code>@id</code>, <code>@change-vector</code>{" "}
            and <code>@last-modified</code>.
          </p>
        </details>
      </Panel>
      {stored && (
        <Belongings
          database={database}
          stored={stored}
          added={added}
          isChanged={isChanged}
          onChanged={onBelongings}
          onRestored={onRestored}
        />
      )}
      <Links database={database} text={text} isGood={isGood} />
    </div>
  )
}

function expiresIn(text: string): string | null {
  const { node } = parseJson(text)
  const expires = memberOf(memberOf(node ?? undefined, "@metadata"), "@expires")
  return expires?.kind === "string" ? stringOf(text, expires) : null
}

/** Values that look like ids. Those of existing documents are links. */
function Links({ database, text, isGood }: { database: string; text: string; isGood: boolean }) {
  const links = useMemo(() => (isGood ? linksOf(text) : []), [text, isGood])
  const known = useSignal<{ of: string; ids: Set<string> } | null>(null)
  const ids = links.map((link) => link.id).join("\n")
  useEffect(() => {
    if (ids === "") return
    const leaving = new AbortController()
    const timer = setTimeout(() => {
      existing(database, ids.split("\n"), leaving.signal).then(
        (found) => {
          known.value = { of: ids, ids: found }
        },
        () => {
          known.value = null
        },
      )
    }, CheckMilliseconds)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [ids])
  if (links.length === 0) return null
  // Nothing is said about an id that was typed just now.
  const isMissing = (id: string) =>
    known.value !== null && known.value.of.split("\n").includes(id) && !known.value.ids.has(id.toLowerCase())
  return (
    <Panel title="Documents it names">
      <ul class="links">
        {links.map(({ id, path }) => (
          <li key={id}>
            <code class="quiet">{path}</code>
            {isMissing(id) ? <span class="quiet">{id}: no such document</span> : <a href={hrefOf("document", database, id)}>{id}</a>}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
