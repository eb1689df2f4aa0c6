import { useMemo } from "preact/hooks"
import { qrCode } from "./qr"

const Quiet = 4

/**
 * A text as a QR code, dark on white in any colour scheme, because cameras need that. Renders nothing if the text is
 * too long.
 */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const modules = useMemo(() => {
    try {
      return qrCode(text)
    } catch {
      return null
    }
  }, [text])
  if (!modules) return null
  const size = modules.length + 2 * Quiet
  // One path for all dark modules instead of thousands of elements.
  const path = modules
    .flatMap((line, row) =>
      line.map((dark, column) =>
        dark && !line[column - 1] ? `M${column + Quiet} ${row + Quiet}h${runOf(line, column)}v1h-${runOf(line, column)}z` : "",
      ),
    )
    .join("")
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect class="qr-light" width={size} height={size} />
      <path class="qr-dark" d={path} />
    </svg>
  )
}

function runOf(line: boolean[], from: number): number {
  let to = from
  while (line[to]) to++
  return to - from
}
