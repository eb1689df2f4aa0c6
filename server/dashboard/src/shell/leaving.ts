import { useLayoutEffect, useRef } from "preact/hooks"

/**
 * Returns a signal that is aborted when the component is unmounted: for its requests, and for effects that must not
 * happen afterwards.
 */
export function useLeaving(): AbortSignal {
  const control = useRef(new AbortController()).current
  // Not useEffect, whose cleanup runs only after the next frame.
  useLayoutEffect(() => () => control.abort(), [])
  return control.signal
}
