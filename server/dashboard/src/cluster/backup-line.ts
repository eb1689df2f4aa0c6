interface Asked {
  url: string
  /** Whether the node wants a token. */
  needsToken: boolean
  /** Whether the node's certificate is of the cluster's own authority. */
  isSecure: boolean
}

/** The line that takes a backup from any machine; it names no file that the node does not ask for. */
export function backupLine(now: Date, { url, needsToken, isSecure }: Asked): string {
  const words = ["rookery backup", `--to ${now.toLocaleDateString("en-CA")}`, `--url ${url}`]
  if (isSecure) words.push("--ca authority.pem")
  if (needsToken) words.push("--token-file admin.token")
  return words.join(" ")
}
