import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Banners } from "./banner"
import { sentenceOf } from "./error-sentence"
import { Header } from "./header"
import { enterByKiosk } from "./kiosk"
import { followLive } from "./live"
import { Navigation } from "./navigation"
import { route } from "./route"
import { refreshSession, session } from "./session"
import { SignIn } from "./sign-in"
import { Toasts } from "./toast"
import "./parts.css"
import "./frame.css"

const RetryMilliseconds = 2000

/** What is around each page: header, navigation, banners, toasts; or the way in. */
export function Frame({ children }: { children: ComponentChildren }) {
  const lost = useSignal("")
  const main = useRef<HTMLElement>(null)
  const shown = useRef(route.value.page)
  useEffect(() => {
    let retry: ReturnType<typeof setTimeout> | undefined
    const begin = async () => {
      try {
        const refused = await enterByKiosk()
        await refreshSession()
        lost.value = refused
        followLive()
      } catch (failure) {
        lost.value = `${sentenceOf(failure)} Trying again …`
        retry = setTimeout(begin, RetryMilliseconds)
      }
    }
    void begin()
    return () => clearTimeout(retry)
  }, [])
  // Who goes to another page by keyboard goes on from its beginning.
  useEffect(() => {
    if (shown.current === route.value.page) return
    shown.current = route.value.page
    main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [route.value.page])
  const isIn = session.value?.SignedIn === true
  return (
    <>
      <div class="top">
        <Header />
        {isIn && <Navigation />}
      </div>
      <Banners lost={lost.value} />
      <main id="main" ref={main} tabIndex={-1} class={`page-${route.value.page || "overview"}`}>
        {isIn ? (
          children
        ) : session.value ? (
          <SignIn />
        ) : (
          <p class="quiet" role="status">
            {lost.value ? "" : "Loading …"}
          </p>
        )}
      </main>
      <Toasts />
    </>
  )
}
