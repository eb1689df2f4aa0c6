import { useLayoutEffect, useRef } from "preact/hooks"

/** Aborted when the component leaves the page: for questions that only it asks, and for what must not follow its leaving. */
export function useLeaving(): AbortSignal {
  const control = useRef(new AbortController()).current
  // Not useEffect, which ends only after the next frame.
  useLayoutEffect(() => () => control.abort(), [])
  return control.signal
}
