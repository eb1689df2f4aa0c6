import { useSignal } from "@preact/signals"
import { moment } from "../shell/format"
import { Button, Empty, ErrorSentence, Panel, Tag, useAsked } from "../shell/parts"
import { Refusal } from "../shell/request"
import { AccessList } from "./access-list"
import { NewCertificate } from "./new-certificate"

interface CertificateRow {
  Name: string
  Thumbprint: string
  Admin: boolean
  Databases: Record<string, string> | null
  Created: string
  Expires: string
}

/** The client certificates, as RavenDB's clients use them. */
export function Certificates() {
  const { data, trouble, refresh } = useAsked<{ Certificates: CertificateRow[] }>("/admin/access/certificates")
  const isNew = useSignal(false)
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
        <AccessList
          kind="certificate"
          label="Client certificates"
          path="/admin/access/certificates"
          rows={data.value.Certificates}
          refresh={refresh}
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
