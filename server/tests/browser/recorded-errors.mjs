// What a page does only if something is wrong: it logs an error, throws an exception, or asks another host.
import assert from "node:assert/strict"

/**
 * Adds to `wrong` each error in the console of a page, each exception that it throws, and each request to another host
 * than `base()`, if that is given. `isProvoked` names the messages of the console that a test expects.
 */
export function recordErrors(page, wrong, { isProvoked = () => false, base } = {}) {
  page.on("console", message => {
    if (message.type() === "error" && !isProvoked(message)) wrong.push(`${message.text()} (${message.location().url})`)
  })
  page.on("pageerror", error => wrong.push(error.stack ?? error.message))
  if (!base) return
  page.on("request", request => {
    if (!request.url().startsWith(base()) && !/^(data|blob):/.test(request.url())) wrong.push(`asked ${request.url()}`)
  })
}

/** Asserts that nothing was recorded. The failure's first line says what was, because a short log has only that. */
export const assertNoErrors = wrong => assert.ok(wrong.length === 0, wrong.join("\n"))
