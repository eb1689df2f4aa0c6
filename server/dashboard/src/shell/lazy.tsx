import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"

export type LazyComponent<Props extends object> = ComponentType<Props> & {
  /** Starts loading before the page is shown. */
  prefetch: () => void
}

/** A page that is loaded when it is first shown, so that the initial download stays small. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyComponent<Props> {
  let loaded: ComponentType<Props> | undefined
  let loading: Promise<ComponentType<Props>> | undefined
  const fetchOnce = () => {
    loading ??= load().then(
      (page) => {
        loaded = page
        return page
      },
      (failure: unknown) => {
        // The next rendering retries.
        loading = undefined
        throw failure
      },
    )
    return loading
  }
  function Lazy(props: Props) {
    const shown = useSignal<ComponentType<Props> | undefined>(loaded)
    const trouble = useSignal("")
    useEffect(() => {
      if (shown.value) return
      fetchOnce().then(
        (page) => {
          shown.value = page
        },
        () => {
          trouble.value =
            "This part of the page could not be fetched: the node does not answer, or has another version now. Reload the page."
        },
      )
    }, [])
    const Page = shown.value
    return Page ? (
      <Page {...props} />
    ) : (
      <p class="quiet" role="status">
        {trouble.value || "Loading …"}
      </p>
    )
  }
  Lazy.prefetch = () => void fetchOnce().catch(() => {})
  return Lazy
}
