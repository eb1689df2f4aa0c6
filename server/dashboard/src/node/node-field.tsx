import { live } from "../shell/live"
import { Field } from "../shell/parts"
import { route } from "../shell/route"

/** Returns the node in the page's address, or the node that serves the page. */
export function chosenNode(): string {
  return route.value.query.get("node") ?? live.value?.Nodes.find((node) => node.IsSelf)?.Tag ?? ""
}

/** Selects a node, and stores it in the page's address. Shows nothing before the first live state. */
export function NodeField() {
  const nodes = live.value?.Nodes ?? []
  if (nodes.length < 2) return null
  return (
    <Field label="Node">
      <select
        class="input"
        value={chosenNode()}
        onChange={(event) => {
          const query = new URLSearchParams(route.value.query)
          query.set("node", event.currentTarget.value)
          location.hash = `#/${route.value.page}?${query}`
        }}
      >
        {nodes.map((node) => (
          <option key={node.Tag} value={node.Tag}>
            {node.Name}
            {node.State === "up" ? "" : " (off)"}
          </option>
        ))}
      </select>
    </Field>
  )
}
