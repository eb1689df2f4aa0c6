import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"

/** A page that is fetched when it is first shown, so that the first screen stays small. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const shown = useSignal<ComponentType<Props> | undefined>(loaded)
    const trouble = useSignal("")
    useEffect(() => {
      if (shown.value) return
      load().then(
        (page) => {
          loaded = page
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
}
