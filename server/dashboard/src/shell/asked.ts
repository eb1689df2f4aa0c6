import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { useLeaving } from "./leaving"
import { ask, isAbort } from "./request"

export interface Asked<T> {
  /** The newest answer. It is kept while later requests fail. */
  data: Signal<T | undefined>
  trouble: Signal<unknown>
  refresh: () => Promise<void>
}

// A request of a poll that hangs would otherwise prevent all later ones.
const PatienceMilliseconds = 60_000

/**
 * Fetches a path by GET: when the path changes, on `refresh`, and every `everySeconds` while the page is visible.
 * Fetches nothing for a null path.
 */
export function useAsked<T>(path: string | null, everySeconds?: number): Asked<T> {
  const data = useSignal<T | undefined>(undefined)
  const trouble = useSignal<unknown>(null)
  const current = useRef(path)
  if (resourceOf(current.current) !== resourceOf(path)) {
    data.value = undefined
    trouble.value = null
  }

  current.current = path
  const leaving = useLeaving()
  const running = useRef(new Set<AbortController>()).current
  // Number of the newest request, and of the newest one that was answered.
  const begun = useRef(0)
  const answered = useRef(0)

  const refresh = async () => {
    if (path === null || leaving.aborted) return
    const number = ++begun.current
    const control = new AbortController()
    const late = () => control.abort(new DOMException("This node did not answer within a minute.", "TimeoutError"))
    const timer = everySeconds ? setTimeout(late, PatienceMilliseconds) : undefined
    running.add(control)
    // An answer that a newer request overtook may lack what that one was sent to show.
    const isOvertaken = () => current.current !== path || number < answered.current
    try {
      const answer = await ask<T>(path, { signal: control.signal })
      if (isOvertaken()) return
      answered.current = number
      data.value = answer
      trouble.value = null
    } catch (failure) {
      if (isOvertaken() || isAbort(failure)) return
      answered.current = number
      trouble.value = failure
    } finally {
      clearTimeout(timer)
      running.delete(control)
    }
  }

  useEffect(() => {
    void refresh()
    // A node that answers more slowly than it is asked must not get more and more requests.
    const poll = () => {
      if (!document.hidden && running.size === 0) void refresh()
    }
    const timer = everySeconds ? setInterval(poll, everySeconds * 1000) : undefined
    return () => {
      clearInterval(timer)
      for (const control of running) control.abort()
      running.clear()
    }
  }, [path, everySeconds])
  return { data, trouble, refresh }
}

/** Returns what a path names, whether it is read with the leader or from the node's own state. */
function resourceOf(path: string | null): string | undefined {
  return path?.replace(/[?&]consistency=local$/, "")
}
