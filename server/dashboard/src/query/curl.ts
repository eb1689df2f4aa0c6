/** A word as a POSIX shell takes it: in single quotes, in which nothing means anything but the quote itself. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

export interface CurlRequest {
  method: string
  url: string
  /** Sent as JSON. */
  body?: unknown
  /** Whether the node wants a token: the line names a variable of the shell, never the token. */
  needsToken: boolean
  /** Whether the node's certificate is of the cluster's own authority. */
  isSecure: boolean
}

/** The line that asks the same from a shell. */
export function curlLine({ method, url, body, needsToken, isSecure }: CurlRequest): string {
  const words = ["curl"]
  if (method !== "POST" || body === undefined) words.push("-X", method)
  words.push(shellWord(url))
  if (isSecure) words.push("--cacert", "rookery-ca.pem")
  if (needsToken) words.push("-H", '"Authorization: Bearer $ROOKERY_TOKEN"')
  if (body !== undefined)
    words.push(
      "-H",
      shellWord("Content-Type: application/json"),
      "--data-raw",
      shellWord(typeof body === "string" ? body : JSON.stringify(body)),
    )
  return words.join(" ")
}
