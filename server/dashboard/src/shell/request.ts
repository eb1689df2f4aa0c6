/** Thrown if the node refuses a request or does not answer. `message` is a sentence for people. */
export class Refusal extends Error {
  constructor(
    /** The HTTP status; 0 without an answer. */
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

export interface RequestOptions {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Called when the node does not accept this browser's session (any more). */
let whenUnknown = () => {}

export function onUnknown(call: () => void): void {
  whenUnknown = call
}

/**
 * Sends a request to this node and returns the JSON of the answer; undefined for an empty one. Throws {@link Refusal}.
 */
export async function ask<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options)
  const text = await response.text()
  return (text === "" ? undefined : JSON.parse(text)) as T
}

/** Does the same as {@link ask}, but returns the response, for headers and for bodies that are not JSON. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, headers, signal } = options
  let response: Response
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      // The node refuses requests with a session's cookie without this header, which pages of other sites cannot set.
      headers: { "Rookery-Request": "dashboard", ...headers },
      ...(body === undefined ? {} : { body: body instanceof Blob || typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (failure) {
    if (isAbort(failure)) throw failure
    throw new Refusal(0, "This node does not answer.")
  }

  if (response.status === 401) whenUnknown()
  if (!response.ok) throw new Refusal(response.status, await sentenceOf(response))
  return response
}

/** Whether a request failed because it was aborted. */
export function isAbort(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === "AbortError"
}

async function sentenceOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { Message } = JSON.parse(text) as { Message?: string }
    if (Message) return Message
  } catch {
    // The body is not RavenDB's error object. A 404, for example, has no body.
  }

  return `The node refused with status ${response.status}.`
}
