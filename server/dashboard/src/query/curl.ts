/** Quotes a word for a POSIX shell, in single quotes. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

export interface CurlRequest {
  method: string
  url: string
  /** The request body, sent as JSON. */
  body?: unknown
  /** Whether the node requires a token. The command contains a shell variable, never the token. */
  needsToken: boolean
  /** Whether the node uses TLS, with a certificate of the cluster's own authority. */
  isSecure: boolean
}

/** Returns the curl command of a request. */
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
