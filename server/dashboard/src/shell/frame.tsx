import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Banners } from "./banner"
import { lost } from "./enter"
import { Header } from "./header"
import { Navigation } from "./navigation"
import { route } from "./route"
import { session } from "./session"
import { SignIn } from "./sign-in"
import { Toasts } from "./toast"
import "./parts.css"
import "./frame.css"

interface FrameProps {
  /** Whether the page is shown without a session too. */
  isOpen: boolean
  children: ComponentChildren
}

/** The frame of each page: header, navigation, banners, toasts. Shows the sign-in without a session. */
export function Frame({ isOpen, children }: FrameProps) {
  const main = useRef<HTMLElement>(null)
  const shown = useRef(route.value.page)
  // Moves the focus to the beginning of a new page, for keyboard users.
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
      <div class={isIn ? "beside" : ""}>
        <Banners />
      </div>
      <main id="main" ref={main} tabIndex={-1} class={`page-${route.value.page || "overview"} ${isIn ? "beside" : ""}`}>
        {isIn || isOpen ? (
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
