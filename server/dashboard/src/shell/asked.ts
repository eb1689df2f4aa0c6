import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { ask, isAbort } from "./request"

export interface Asked<T> {
  /** The newest answer. It is kept while later requests fail. */
  data: Signal<T | undefined>
  trouble: Signal<unknown>
  refresh: () => Promise<void>
}

/**
 * Fetches a path by GET: when the path changes, on `refresh`, and every `everySeconds` while the page is visible.
 * Fetches nothing for a null path.
 */
export function useAsked<T>(path: string | null, everySeconds?: number): Asked<T> {
  const data = useSignal<T | undefined>(undefined)
  const trouble = useSignal<unknown>(null)
  const current = useRef(path)
  if (current.current !== path) data.value = undefined
  current.current = path

  const leaving = useRef<AbortController | undefined>(undefined)

  const refresh = async () => {
    if (path === null) return
    try {
      const answer = await ask<T>(path, leaving.current ? { signal: leaving.current.signal } : {})
      if (current.current !== path) return
      data.value = answer
      trouble.value = null
    } catch (failure) {
      if (current.current === path && !isAbort(failure)) trouble.value = failure
    }
  }

  useEffect(() => {
    const control = new AbortController()
    leaving.current = control
    void refresh()
    const timer = everySeconds
      ? setInterval(() => {
          if (!document.hidden) void refresh()
        }, everySeconds * 1000)
      : undefined
    return () => {
      clearInterval(timer)
      control.abort()
    }
  }, [path, everySeconds])
  return { data, trouble, refresh }
}
