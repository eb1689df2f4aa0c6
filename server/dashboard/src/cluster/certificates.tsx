import { useSignal } from "@preact/signals"
import { moment } from "../shell/format"
import { Button, Confirm, Empty, ErrorSentence, Panel, Table, Tag, toast, useAsked } from "../shell/parts"
import { Refusal, send } from "../shell/request"
import { NewCertificate } from "./new-certificate"

interface CertificateRow {
  Name: string
  Thumbprint: string
  Admin: boolean
  Databases: Record<string, string> | null
  Created: string
  Expires: string
}

/** Who may enter with a client certificate, as RavenDB's clients do. */
export function Certificates() {
  const { data, trouble, refresh } = useAsked<{ Certificates: CertificateRow[] }>("/admin/access/certificates")
  const isNew = useSignal(false)
  const withdrawn = useSignal<string | null>(null)
  const isRefused = trouble.value instanceof Refusal && trouble.value.status === 409
  return (
    <Panel
      title="Client certificates"
      actions={
        !isRefused && (
          <Button
            onClick={() => {
              isNew.value = true
            }}
          >
            New certificate
          </Button>
        )
      }
    >
      <ErrorSentence of={trouble.value} {...(isRefused ? {} : { retry: refresh })} />
      {data.value && (
        <Table
          label="Client certificates"
          stacks
          rows={data.value.Certificates}
          keyOf={(certificate) => certificate.Name}
          empty={<Empty title="No certificates.">RavenDB's clients need one each; everything else may use a token.</Empty>}
          columns={[
            { title: "Name", cell: (certificate) => certificate.Name, sort: (certificate) => certificate.Name },
            { title: "May", cell: (certificate) => <Rights certificate={certificate} /> },
            {
              title: "SHA-256",
              wideOnly: true,
              cell: (certificate) => <code title={certificate.Thumbprint}>{certificate.Thumbprint.slice(0, 16)}…</code>,
            },
            { title: "Ends", cell: (certificate) => moment(certificate.Expires), sort: (certificate) => certificate.Expires },
            {
              title: "Orders",
              unseenTitle: true,
              end: true,
              cell: (certificate) => (
                <Button
                  kind="plain danger"
                  label={`Withdraw the certificate ${certificate.Name}`}
                  onClick={() => {
                    withdrawn.value = certificate.Name
                  }}
                >
                  Withdraw
                </Button>
              ),
            },
          ]}
        />
      )}
      {isNew.value && (
        <NewCertificate
          onClose={() => {
            isNew.value = false
            void refresh()
          }}
        />
      )}
      {withdrawn.value !== null && (
        <Confirm
          title={`Withdraw ${withdrawn.value}?`}
          verb="Withdraw"
          name={withdrawn.value}
          onConfirm={async () => {
            await send(`/admin/access/certificates?name=${encodeURIComponent(withdrawn.value ?? "")}`, { method: "DELETE" })
            toast(`The certificate '${withdrawn.value}' opens nothing any more.`, { tone: "good" })
            await refresh()
          }}
          onClose={() => {
            withdrawn.value = null
          }}
        >
          <p>Whatever enters with it is refused from now on, and it cannot be brought back.</p>
        </Confirm>
      )}
    </Panel>
  )
}

function Rights({ certificate }: { certificate: CertificateRow }) {
  return (
    <span class="tag-list">
      {certificate.Admin && <Tag tone="warning">admin</Tag>}
      {Object.entries(certificate.Databases ?? {}).map(([database, right]) => (
        <Tag key={database}>
          {database}: {right === "rw" ? "read and write" : "read"}
        </Tag>
      ))}
    </span>
  )
}
