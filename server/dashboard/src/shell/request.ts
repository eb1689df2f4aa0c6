/** A node refused, or none answered: `message` is its sentence, for people. */
export class Refusal extends Error {
  constructor(
    /** The HTTP status; 0 when no answer came. */
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

/** Called when the node does not know this browser (any more): the session looks what it still may. */
let whenUnknown = () => {}

export function onUnknown(call: () => void): void {
  whenUnknown = call
}

/** Asks this node and gives the answer's JSON; undefined for an empty one. Throws {@link Refusal}. */
export async function ask<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options)
  const text = await response.text()
  return (text === "" ? undefined : JSON.parse(text)) as T
}

/** As {@link ask}, with the response itself: for headers and for bodies that are not JSON. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, headers, signal } = options
  let response: Response
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      // A cookie's request is refused without it, and no page of others can set it.
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

/** Whether a question failed because nobody wants its answer any more. */
export function isAbort(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === "AbortError"
}

async function sentenceOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { Message } = JSON.parse(text) as { Message?: string }
    if (Message) return Message
  } catch {
    // Not RavenDB's error object: a 404 has no body, for instance.
  }

  return `The node refused with status ${response.status}.`
}
