import { useSignal } from "@preact/signals"
import { Button, Copyable, Dialog, ErrorSentence, Field } from "../shell/parts"
import { ask } from "../shell/request"
import { offer } from "./offer-file"
import { rightsOf } from "./rights"

interface Made {
  Name: string
  Certificate: string
  Authorities: string
  Notice?: string
}

/** Signs a request that its owner made: the private key never leaves that machine. */
export function NewCertificate({ onClose }: { onClose: () => void }) {
  const name = useSignal("")
  const request = useSignal("")
  const isAdmin = useSignal(false)
  const databases = useSignal("")
  const made = useSignal<Made | null>(null)
  const busy = useSignal(false)
  const trouble = useSignal<unknown>(null)
  const called = name.value.trim() || "NAME"
  const make = async () => {
    busy.value = true
    trouble.value = null
    try {
      made.value = await ask<Made>("/admin/access/certificates", {
        method: "POST",
        body: {
          Name: name.value.trim(),
          Request: request.value,
          Admin: isAdmin.value,
          ...(isAdmin.value ? {} : { Databases: rightsOf(databases.value) }),
        },
      })
    } catch (failure) {
      trouble.value = failure
    } finally {
      busy.value = false
    }
  }
  if (made.value) {
    const { Certificate, Authorities, Name, Notice } = made.value
    return (
      <Dialog title={`The certificate ${Name}`} onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
        <p>It belongs beside the private key that its request was made with. It is no secret, and holds for 397 days.</p>
        {Notice && <p class="warning">{Notice}</p>}
        <div class="actions">
          <Button kind="primary" onClick={() => offer(`${Name}.pem`, Certificate)}>
            Download {Name}.pem
          </Button>
          <Button onClick={() => offer("authority.pem", Authorities)}>Download authority.pem</Button>
        </div>
        <p>RavenDB's clients take both in one file:</p>
        <Copyable text={`openssl pkcs12 -export -inkey ${Name}.key -in ${Name}.pem -out ${Name}.pfx`} />
      </Dialog>
    )
  }

  return (
    <Dialog
      title="New client certificate"
      onClose={onClose}
      onSubmit={make}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy.value} disabled={name.value.trim() === "" || request.value.trim() === ""}>
            Sign it
          </Button>
        </>
      }
    >
      <Field label="Name" hint="1 to 63 lower-case letters, digits and hyphens.">
        <input
          class="input"
          autocomplete="off"
          autocapitalize="off"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
        />
      </Field>
      <p>On the machine that will use it:</p>
      <Copyable
        text={`openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=${called} -keyout ${called}.key -out ${called}.csr`}
      />
      <Field label={`The content of ${called}.csr`}>
        <textarea
          class="input"
          rows={5}
          spellcheck={false}
          placeholder="-----BEGIN CERTIFICATE REQUEST-----"
          value={request.value}
          onInput={(event) => {
            request.value = event.currentTarget.value
          }}
        />
      </Field>
      <label class="tick">
        <input
          type="checkbox"
          checked={isAdmin.value}
          onChange={(event) => {
            isAdmin.value = event.currentTarget.checked
          }}
        />
        <span>
          <strong>admin</strong> <span class="quiet">it opens everything</span>
        </span>
      </label>
      {!isAdmin.value && (
        <Field label="Databases" hint="With rights, and commas between them: shop:rw, birds:ro">
          <input
            class="input"
            autocomplete="off"
            autocapitalize="off"
            value={databases.value}
            onInput={(event) => {
              databases.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      <ErrorSentence of={trouble.value} />
    </Dialog>
  )
}
