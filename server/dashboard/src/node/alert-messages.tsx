import { useSignal } from "@preact/signals"
import { readsAreLocal } from "../documents/store"
import { manualHref } from "../shell/manual-href"
import { Button, Choice, Confirm, ErrorSentence, Field, Menu, Panel, sentenceOf, toast, useAsked, WorkDialog } from "../shell/parts"
import { ask } from "../shell/request"
import { moved, offsetNow } from "./quiet-hours"

/** Where alerts are sent, as the node answers. The rest of the URL is secret. */
interface AlertSettings {
  Place: string | null
  Form: "json" | "ntfy" | null
  /** Whether the file of this node says it, and not the settings of the cluster. */
  IsOfFile: boolean
  QuietFrom: string | null
  QuietUntil: string | null
}

const Path = "/admin/alerts/webhook"

/** Where messages about alerts are sent, with a test, and the hours in which only critical ones are. */
export function AlertMessages() {
  const { data, trouble, refresh } = useAsked<AlertSettings>(`${Path}${readsAreLocal() ? "?consistency=local" : ""}`)
  const [isEdited, isRemoved] = [useSignal(false), useSignal(false)]
  const settings = data.value
  if (!settings) return <ErrorSentence of={trouble.value} retry={refresh} />
  const { Place, Form, IsOfFile, QuietFrom, QuietUntil } = settings
  const edit = () => {
    isEdited.value = true
  }
  return (
    <Panel
      title="Messages"
      actions={
        <>
          {Place && (
            <Button
              onClick={async () => {
                try {
                  await ask("/admin/alerts/test", { method: "POST" })
                  toast("A test message was sent, and the webhook accepted it.", { tone: "good" })
                } catch (failure) {
                  toast(sentenceOf(failure), { tone: "bad", seconds: 12 })
                }
              }}
            >
              Send a test message
            </Button>
          )}
          {Place ? (
            <Menu
              label="Actions on messages"
              actions={[
                { title: "Change …", onClick: edit },
                !IsOfFile && {
                  title: "Send none any more …",
                  danger: true,
                  onClick: () => {
                    isRemoved.value = true
                  },
                },
              ]}
            />
          ) : (
            <Button kind="primary" onClick={edit}>
              Set it up
            </Button>
          )}
        </>
      }
    >
      <ErrorSentence of={trouble.value} retry={refresh} />
      <p class="small">
        {Place
          ? `The beginning and the end of each alert are sent ${Form === "ntfy" ? "by ntfy" : "as JSON"} to ${Place}. `
          : "Nobody is told: an alert is seen here only. A message can go to a phone, by ntfy for example. "}
        {IsOfFile && "The file of this node says so; other members may have another one. "}
        {Place &&
          QuietFrom &&
          QuietUntil &&
          `From ${moved(QuietFrom, -offsetNow())} to ${moved(QuietUntil, -offsetNow())} only critical ones are sent; the others wait. `}
        <a href={manualHref("/help/reference/alerts.md#a-webhook")}>How it works</a>
      </p>
      {isEdited.value && (
        <SettingsDialog
          settings={settings}
          onStored={refresh}
          onClose={() => {
            isEdited.value = false
          }}
        />
      )}
      {isRemoved.value && (
        <Confirm
          title="Send no messages any more?"
          verb="Send none"
          danger
          onConfirm={async () => {
            await ask(Path, { method: "PUT", body: "null" })
            await refresh()
          }}
          onClose={() => {
            isRemoved.value = false
          }}
        >
          <p>The URL and the quiet hours are removed from the cluster. Alerts are still shown here.</p>
        </Confirm>
      )}
    </Panel>
  )
}

/** A topic of ntfy that nobody guesses, because everyone who knows it can read and send. */
function newTopic(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789"
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => letters[byte % letters.length]).join("")
}

interface SettingsDialogProps {
  settings: AlertSettings
  onStored: () => Promise<unknown>
  onClose: () => void
}

function SettingsDialog({ settings, onStored, onClose }: SettingsDialogProps) {
  const { Place, IsOfFile } = settings
  const form = useSignal(settings.Form ?? "ntfy")
  const url = useSignal(Place === null ? `https://ntfy.sh/rookery-${newTopic()}` : "")
  const isQuiet = useSignal(settings.QuietFrom !== null)
  const from = useSignal(moved(settings.QuietFrom ?? moved("22:00", offsetNow()), -offsetNow()))
  const until = useSignal(moved(settings.QuietUntil ?? moved("07:00", offsetNow()), -offsetNow()))
  const isNew = url.value.trim() !== ""
  const isSame = isQuiet.value && from.value === until.value
  const time = (label: string, value: typeof from, wrong: string | null) => (
    <Field label={label} wrong={wrong}>
      <input
        class="input"
        type="time"
        required
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value
        }}
      />
    </Field>
  )
  return (
    <WorkDialog
      title="Messages about alerts"
      verb="Save"
      isReady={(IsOfFile || Place !== null || isNew) && (!isQuiet.value || (from.value !== "" && until.value !== "" && !isSame))}
      work={async () => {
        const quiet = isQuiet.value
          ? { QuietFrom: moved(from.value, offsetNow()), QuietUntil: moved(until.value, offsetNow()) }
          : { QuietFrom: null, QuietUntil: null }
        await ask(Path, { method: "PUT", body: { ...(isNew && !IsOfFile ? { Url: url.value.trim(), Form: form.value } : {}), ...quiet } })
        toast("Stored. Send a test message to see that it arrives.", { tone: "good" })
        onClose()
        await onStored()
      }}
      onClose={onClose}
    >
      {!IsOfFile && (
        <>
          {(Place === null || isNew) && (
            <Choice
              label="Form of the messages"
              options={[
                { value: "ntfy", title: "ntfy" },
                { value: "json", title: "Another webhook" },
              ]}
              chosen={form.value}
              onChoose={(value) => {
                form.value = value
              }}
            />
          )}
          <Field
            label={form.value === "ntfy" ? "URL with the topic" : "URL"}
            hint={
              Place !== null && !isNew
                ? `Empty: the one at ${Place}, as now.`
                : form.value === "ntfy"
                  ? "Subscribe to this topic in the app of ntfy. Who knows it can read the messages and send some, so keep it long."
                  : "A POST with the alert as JSON. Who knows the URL can send there."
            }
          >
            <input
              class="input"
              type="url"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={url.value}
              onInput={(event) => {
                url.value = event.currentTarget.value
              }}
            />
          </Field>
        </>
      )}
      <label class="tick">
        <input
          type="checkbox"
          checked={isQuiet.value}
          onChange={(event) => {
            isQuiet.value = event.currentTarget.checked
          }}
        />
        Quiet hours: only critical alerts are sent; the others wait
      </label>
      {isQuiet.value && (
        <div class="quiet-hours">
          {time("From", from, null)}
          {time("until", until, isSame ? "Choose another time." : null)}
          <p class="quiet small">In your time now. The cluster keeps them in UTC: when your clocks change, set them anew.</p>
        </div>
      )}
    </WorkDialog>
  )
}
