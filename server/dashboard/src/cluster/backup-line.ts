interface Asked {
  url: string
  /** Whether the node requires a token. */
  needsToken: boolean
  /** Whether the node uses TLS, with a certificate of the cluster's own authority. */
  isSecure: boolean
}

/**
 * Returns the shell command that backs up this node from any machine. Names token and authority only if the node needs
 * them.
 */
export function backupLine(now: Date, { url, needsToken, isSecure }: Asked): string {
  const words = ["rookery backup", `--to ${now.toLocaleDateString("en-CA")}`, `--url ${url}`]
  if (isSecure) words.push("--ca authority.pem")
  if (needsToken) words.push("--token-file admin.token")
  return words.join(" ")
}
