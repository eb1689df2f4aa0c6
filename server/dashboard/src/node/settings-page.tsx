import { Empty, ErrorSentence, Panel, Table, Tag, useAsked } from "../shell/parts"
import { chosenNode, NodeField } from "./node-field"
import "./node.css"
import { manualHref } from "../shell/manual-href"

interface Setting {
  Name: string
  Value: string | null
  Source: "file" | "option" | "default"
  Help: string
}

const sources = {
  file: "in its file",
  option: "as an option",
  default: "not set: the default",
}

/**
 * The page of a node's settings, with their sources and links to the manual. They are changed in the node's file, or by
 * the playbook.
 */
export function SettingsPage() {
  const node = chosenNode()
  const { data, trouble, refresh } = useAsked<{ Settings: Setting[] }>(
    `/admin/node/settings${node ? `?node=${encodeURIComponent(node)}` : ""}`,
  )
  return (
    <div class="stack">
      <h1>Settings</h1>
      <Panel title="What this node was told">
        <div class="stack">
          <div class="log-tools">
            <NodeField />
          </div>
          <p class="quiet small">
            Secrets are left out. Change them in the node's <code>config.json</code> and start it again, or by the playbook:{" "}
            <a href={manualHref("/help/reference/configuration.md")}>configuration</a>.
          </p>
          <ErrorSentence of={trouble.value} retry={refresh} />
          {data.value && (
            <Table
              label="Settings"
              stacks
              rows={data.value.Settings}
              keyOf={(setting) => setting.Name}
              empty={<Empty title="No settings." />}
              columns={[
                {
                  title: "Setting",
                  cell: (setting) => <a href={manualHref(setting.Help)}>{setting.Name}</a>,
                  sort: (setting) => setting.Name,
                },
                {
                  title: "Value",
                  cell: (setting) => (setting.Value === null ? <span class="quiet">not set</span> : <code>{setting.Value}</code>),
                },
                {
                  title: "Said",
                  cell: (setting) => (
                    <Tag tone={setting.Source === "default" ? "quiet" : "accent"}>{sources[setting.Source] ?? setting.Source}</Tag>
                  ),
                  sort: (setting) => setting.Source,
                },
              ]}
            />
          )}
        </div>
      </Panel>
    </div>
  )
}
