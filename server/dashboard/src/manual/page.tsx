import { type Signal, useSignal, useSignalEffect } from "@preact/signals"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { Empty, ErrorSentence } from "../shell/parts"
import { route } from "../shell/route"
import { part } from "../shell/title"
import { loadManual, type Texts } from "./archive"
import { contentsOf, FirstPage, Groups, type ManualPage as Page } from "./contents"
import { headingsOf } from "./headings"
import { hrefOfPage, placeOf } from "./links"
import { idOf, PageText } from "./page-text"
import { type Found, search, sectionsOf } from "./search"
import "./manual.css"

/** The manual of this node's version: its contents, a page, the page's headings, and a search over all pages. */
export function ManualPage() {
  const texts = useSignal<Texts | null>(null)
  const trouble = useSignal<unknown>(null)
  const load = () => {
    trouble.value = null
    loadManual().then(
      (loaded) => {
        texts.value = loaded
      },
      (failure: unknown) => {
        trouble.value = failure
      },
    )
  }
  useEffect(load, [])
  if (trouble.value) return <ErrorSentence of={trouble.value} retry={load} />
  return texts.value ? (
    <Manual texts={texts.value} />
  ) : (
    <p class="quiet" role="status">
      Loading …
    </p>
  )
}

function Manual({ texts }: { texts: Texts }) {
  const pages = useMemo(() => contentsOf(texts), [texts])
  const asked = useSignal("")
  const { path, anchor } = placeOf(route.value.parts)
  const text = texts.get(path)
  const headings = useMemo(() => (text ? headingsOf(text).filter(({ depth }) => depth === 2 || depth === 3) : []), [text])
  const at = pages.findIndex((page) => page.path === path)
  const group = pages[at]?.group
  const title = (path !== FirstPage && pages[at]?.title) || ""
  useLayoutEffect(() => {
    part.value = title
    return () => {
      part.value = ""
    }
  }, [title])
  useScroll(path, anchor, () => {
    asked.value = ""
  })
  return (
    <div class="manual">
      <aside class="manual-contents">
        <Search asked={asked} />
        <Contents pages={pages} path={path} />
      </aside>
      {asked.value.trim() !== "" ? (
        <Results texts={texts} pages={pages} asked={asked} />
      ) : text === undefined ? (
        <article class="manual-text">
          <Empty title="The manual has no such page.">
            <h1 class="unseen">No such page</h1>
            <a href={hrefOfPage(FirstPage)}>To its contents</a>
          </Empty>
        </article>
      ) : (
        <>
          <article class="manual-text">
            {group && <p class="manual-group">{group}</p>}
            <PageText path={path} text={text} />
            <nav class="manual-steps" aria-label="Previous and next page">
              <Step page={pages[at - 1]} way="Previous" />
              <Step page={pages[at + 1]} way="Next" />
            </nav>
            <p class="manual-source">
              <a href={`/help/${path}?plain`}>This page as text</a>
            </p>
          </article>
          {headings.length > 1 && (
            <nav class="manual-headings" aria-label="On this page">
              <h2>On this page</h2>
              <ul>
                {headings.map((heading) => (
                  <li key={heading.anchor} class={`depth-${heading.depth}`}>
                    <a href={hrefOfPage(path, heading.anchor)}>{heading.text}</a>
                  </li>
                ))}
              </ul>
            </nav>
          )}
        </>
      )}
    </div>
  )
}

/** Scroll positions of the entries of the browser's history that were left, by their keys. */
const leftAt = new Map<string, number>()
const maxPlaces = 100

interface Navigation extends EventTarget {
  currentEntry?: { key: string } | null
}

/**
 * Shows a page that is newly opened from its beginning or from its heading. Going back returns to the position at which
 * the page was left. The browser restores it too, but before a slow machine has rendered the page, and then too high.
 */
function useScroll(path: string, anchor: string, onOpen: () => void): void {
  const returnedTo = useRef<string | undefined>(undefined)
  useEffect(() => {
    const navigation = (window as { navigation?: Navigation }).navigation
    const listen = (event: Event) => {
      const { navigationType, destination } = event as Event & {
        navigationType?: string
        destination?: { key: string }
      }
      if (navigation?.currentEntry) leftAt.set(navigation.currentEntry.key, scrollY)
      const [oldest] = leftAt.keys()
      if (leftAt.size > maxPlaces && oldest !== undefined) leftAt.delete(oldest)
      returnedTo.current = navigationType === "traverse" ? destination?.key : undefined
    }
    navigation?.addEventListener("navigate", listen)
    return () => navigation?.removeEventListener("navigate", listen)
  }, [])
  // The route is an object that is new at each navigation, also to the same heading again.
  useEffect(() => {
    onOpen()
    if (returnedTo.current !== undefined) {
      const place = leftAt.get(returnedTo.current)
      if (place !== undefined) scrollTo(0, place)
      return
    }
    const heading = anchor === "" ? null : document.getElementById(idOf(anchor))
    if (heading) {
      heading.scrollIntoView()
      heading.focus({ preventScroll: true })
    } else {
      scrollTo(0, 0)
    }
  }, [route.value, path, anchor])
}

function Search({ asked }: { asked: Signal<string> }) {
  return (
    <input
      class="input"
      type="search"
      placeholder="Search the manual"
      aria-label="Search the manual"
      value={asked.value}
      onInput={(event) => {
        asked.value = event.currentTarget.value
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") asked.value = ""
      }}
    />
  )
}

function Contents({ pages, path }: { pages: readonly Page[]; path: string }) {
  // Folded on phones, where the page comes first. A page that is opened folds it again.
  const isOpen = useSignal(false)
  useSignalEffect(() => {
    void route.value
    isOpen.value = false
  })
  // Shows the page's line in the list, without moving the page itself.
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const line = list.current?.querySelector<HTMLElement>("[aria-current]")
    if (!line || !list.current) return
    const { top, bottom } = line.getBoundingClientRect()
    const room = list.current.getBoundingClientRect()
    if (top < room.top || bottom > room.bottom) list.current.scrollTop += top - room.top - room.height / 3
  }, [path])
  return (
    <>
      <button
        type="button"
        class="button manual-fold"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        Contents
      </button>
      <nav ref={list} aria-label="Contents of the manual" class={isOpen.value ? "open" : ""}>
        <ul>
          <li>
            <a href={hrefOfPage(FirstPage)} {...(path === FirstPage ? { "aria-current": "page" } : {})}>
              Start
            </a>
          </li>
        </ul>
        {Groups.map(({ title }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {pages
                .filter((page) => page.group === title)
                .map((page) => (
                  <li key={page.path}>
                    <a href={hrefOfPage(page.path)} {...(page.path === path ? { "aria-current": "page" } : {})}>
                      {page.title}
                    </a>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  )
}

function Step({ page, way }: { page: Page | undefined; way: "Previous" | "Next" }) {
  if (!page) return <span />
  return (
    <a href={hrefOfPage(page.path)} class={way === "Next" ? "next" : ""} rel={way === "Next" ? "next" : "prev"}>
      <span class="quiet">{way}</span>
      {page.title}
    </a>
  )
}

function Results({ texts, pages, asked }: { texts: Texts; pages: readonly Page[]; asked: Signal<string> }) {
  const said = asked.value.trim()
  const sections = useMemo(() => sectionsOf(texts, pages), [texts, pages])
  const found = useMemo(() => search(sections, said), [sections, said])
  return (
    <article class="manual-text">
      <h1>Search</h1>
      <p role="status" class="quiet">
        {found.length === 0 ? `No section contains all of "${said}".` : `Sections that contain "${said}", the best first:`}
      </p>
      <ol class="manual-found">
        {found.map((section) => (
          <li key={`${section.path}#${section.anchor}`}>
            <FoundSection
              found={section}
              onOpen={() => {
                asked.value = ""
              }}
            />
          </li>
        ))}
      </ol>
    </article>
  )
}

// The result may be in the page that is shown already, so the search is left at the click.
function FoundSection({ found, onOpen }: { found: Found; onOpen: () => void }) {
  const { path, page, heading, anchor, excerpt } = found
  return (
    <a href={hrefOfPage(path, anchor)} onClick={onOpen}>
      <strong>{heading === "" ? page : `${page} › ${heading}`}</strong>
      <span>{excerpt.map(({ text, isWord }, at) => (isWord ? <mark key={at}>{text}</mark> : text))}</span>
    </a>
  )
}
