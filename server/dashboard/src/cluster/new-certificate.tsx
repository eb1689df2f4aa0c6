import { useSignal } from "@preact/signals"
import { Button, Copyable, Field } from "../shell/parts"
import { ask } from "../shell/request"
import { AccessForm, WordInput } from "./access-form"
import { offer } from "./offer-file"
import { rightsOf } from "./rights"

interface Made {
  Name: string
  Certificate: string
  Authorities: string
  Notice?: string
}

/** A form that sends a certificate request to the cluster, which signs it. The private key stays on the machine that created it. */
export function NewCertificate({ onClose }: { onClose: () => void }) {
  const name = useSignal("")
  const request = useSignal("")
  const isAdmin = useSignal(false)
  const databases = useSignal("")
  const called = name.value.trim() || "NAME"
  return (
    <AccessForm
      title="New client certificate"
      verb="Sign it"
      name={name}
      hint="1 to 63 lower-case letters, digits and hyphens."
      isReady={request.value.trim() !== ""}
      make={() =>
        ask<Made>("/admin/access/certificates", {
          method: "POST",
          body: {
            Name: name.value.trim(),
            Request: request.value,
            Admin: isAdmin.value,
            ...(isAdmin.value ? {} : { Databases: rightsOf(databases.value) }),
          },
        })
      }
      show={(made) => ({ title: `The certificate ${made.Name}`, done: "Done", content: <MadeCertificate made={made} /> })}
      onClose={onClose}
    >
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
          <strong>admin</strong> <span class="quiet">everything</span>
        </span>
      </label>
      {!isAdmin.value && (
        <Field label="Databases" hint="Names with rights, and commas between them: shop:rw, birds:ro">
          <WordInput of={databases} />
        </Field>
      )}
    </AccessForm>
  )
}

function MadeCertificate({ made: { Certificate, Authorities, Name, Notice } }: { made: Made }) {
  return (
    <>
      <p>Store the certificate beside the private key of its request. It is no secret, and is valid for 397 days.</p>
      {Notice && <p class="warning">{Notice}</p>}
      <div class="actions">
        <Button kind="primary" onClick={() => offer(`${Name}.pem`, Certificate)}>
          Download {Name}.pem
        </Button>
        <Button onClick={() => offer("authority.pem", Authorities)}>Download authority.pem</Button>
      </div>
      <p>RavenDB's clients need the certificate and its key in one file:</p>
      <Copyable text={`openssl pkcs12 -export -inkey ${Name}.key -in ${Name}.pem -out ${Name}.pfx`} />
    </>
  )
}
