import { useSignal } from "@preact/signals"
import { Lexer, type Token, type Tokens } from "marked"
import type { ComponentChildren, JSX } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { copyOf, highlighterOf } from "./code-language"
import { anchors, plain } from "./headings"
import { hrefOfPage, targetOf } from "./links"
import "../documents/code-colours.css"

/** Identifiers of headings, which no other element of the page has. */
export const idOf = (anchor: string) => `heading-${anchor}`

// A browser would break "--data" after its hyphens. A longer piece of code must break on a phone.
const LongestUnbroken = 24

/** A page of the manual. */
export function PageText({ path, text }: { path: string; text: string }) {
  return useMemo(() => <>{elementsOf(path, text)}</>, [path, text])
}

/** Returns a page's elements. No HTML is made of its text: each token becomes an element, and HTML in it stays text. */
export function elementsOf(path: string, text: string): (JSX.Element | null)[] {
  const anchorOf = anchors()
  return new Lexer().lex(text).map((token, at) => block(token, at, path, anchorOf))
}

function block(token: Token, key: number, path: string, anchorOf: (text: string) => string): JSX.Element | null {
  const within = (tokens: Token[] | undefined) => inline(tokens ?? [], path)
  switch (token.type) {
    case "heading": {
      const text = plain(token.text)
      const anchor = anchorOf(text)
      const Level = `h${token.depth}` as "h1"
      return (
        <Level key={key} id={idOf(anchor)} tabIndex={-1}>
          {within(token.tokens)}
          {token.depth > 1 && (
            <a class="anchor" href={hrefOfPage(path, anchor)} aria-label={`Link to ${text}`}>
              #
            </a>
          )}
        </Level>
      )
    }
    case "paragraph":
      return <p key={key}>{within(token.tokens)}</p>
    case "text":
      return <span key={key}>{token.tokens ? within(token.tokens) : unescaped(token.text)}</span>
    case "code":
      return <CodeBlock key={key} language={token.lang ?? ""} text={token.text} />
    case "blockquote":
      return <blockquote key={key}>{token.tokens?.map((one, at) => block(one, at, path, anchorOf))}</blockquote>
    case "hr":
      return <hr key={key} />
    case "table":
      return <DataTable key={key} table={token as Tokens.Table} path={path} />
    case "list": {
      const { ordered, start, items } = token as Tokens.List
      const children = items.map((item, at) => <li key={at}>{item.tokens.map((one, place) => block(one, place, path, anchorOf))}</li>)
      return ordered ? (
        <ol key={key} start={Number(start)}>
          {children}
        </ol>
      ) : (
        <ul key={key}>{children}</ul>
      )
    }
    case "space":
    case "def":
      return null
    default:
      return token.raw.startsWith("<!--") ? null : <p key={key}>{token.raw}</p>
  }
}

function inline(tokens: readonly Token[], path: string): ComponentChildren[] {
  return tokens.map((token, key) => {
    switch (token.type) {
      case "strong":
        return <strong key={key}>{inline(token.tokens ?? [], path)}</strong>
      case "em":
        return <em key={key}>{inline(token.tokens ?? [], path)}</em>
      case "del":
        return <del key={key}>{inline(token.tokens ?? [], path)}</del>
      case "codespan":
        return (
          <code key={key} class={token.text.length <= LongestUnbroken ? "short" : ""}>
            {token.text}
          </code>
        )
      case "br":
        return <br key={key} />
      case "link":
        return (
          <PageLink key={key} path={path} href={token.href}>
            {inline(token.tokens ?? [], path)}
          </PageLink>
        )
      case "image": {
        const target = targetOf(path, token.href)
        return target.kind === "file" ? <img key={key} src={`/help/${target.path}`} alt={token.text} loading="lazy" /> : token.text
      }
      case "text":
        return unescaped(token.text)
      case "escape":
        return token.text
      default:
        return token.raw
    }
  })
}

function PageLink({ path, href, children }: { path: string; href: string; children: ComponentChildren }) {
  const target = targetOf(path, href)
  switch (target.kind) {
    case "page":
      return <a href={hrefOfPage(target.path, target.anchor)}>{children}</a>
    case "file":
      return <a href={`/help/${target.path}`}>{children}</a>
    case "web":
      return (
        <a href={target.href} rel="noreferrer">
          {children}
        </a>
      )
    default:
      return (
        <span class="source" title={`In the source code: ${target.path}`}>
          {children}
        </span>
      )
  }
}

function DataTable({ table, path }: { table: Tokens.Table; path: string }) {
  const hasHead = table.header.some((cell) => cell.text !== "")
  const align = (at: number) => (table.align[at] === "right" ? { class: "end" } : {})
  return (
    // What scrolls must be reachable by keyboard.
    <div class="table-scroll" tabIndex={0}>
      <table>
        {hasHead && (
          <thead>
            <tr>
              {table.header.map((cell, at) => (
                <th key={at} scope="col" {...align(at)}>
                  {inline(cell.tokens, path)}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {table.rows.map((row, key) => (
            <tr key={key}>
              {row.map((cell, at) => (
                <td key={at} {...align(at)}>
                  {inline(cell.tokens, path)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CodeBlock({ language, text }: { language: string; text: string }) {
  const copied = useSignal(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Absent over plain HTTP.
  const clipboard = navigator.clipboard as Clipboard | undefined
  return (
    <div class="code-block">
      <pre tabIndex={0}>
        <code>{coloured(language, text)}</code>
      </pre>
      {clipboard && (
        <button
          type="button"
          class="button copy"
          onClick={async () => {
            await clipboard.writeText(copyOf(text))
            copied.value = true
            clearTimeout(timer.current)
            timer.current = setTimeout(() => {
              copied.value = false
            }, 2000)
          }}
        >
          {copied.value ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  )
}

function coloured(language: string, text: string): ComponentChildren {
  const pieces: ComponentChildren[] = []
  let end = 0
  for (const stretch of highlighterOf(language, text)?.(text) ?? []) {
    pieces.push(text.slice(end, stretch.start))
    pieces.push(
      <span key={stretch.start} class={`code-${stretch.role}`}>
        {text.slice(stretch.start, stretch.end)}
      </span>,
    )
    end = stretch.end
  }

  pieces.push(text.slice(end))
  return pieces
}

const Entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" }

function unescaped(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name: string) => Entities[name] ?? whole)
}
