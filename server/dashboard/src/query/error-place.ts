import { offsetOf } from "../documents/json-text"

/** A node's error message about a query, and its position. */
export interface ErrorAtPlace {
  /** The message without the position and the quoted line. */
  message: string
  /** Position in the text; null if the node reported none. */
  at: number | null
}

/** Parses a message such as `'>' stands where a value must stand.\nLine 1, column 24:\n…\n ^`. */
export function errorOfQuery(message: string, text: string): ErrorAtPlace {
  const place = /\n?Line (\d+), column (\d+):?/.exec(message)
  if (!place) return { message, at: null }
  return { message: message.slice(0, place.index).trim(), at: offsetOf(text, Number(place[1]), Number(place[2])) }
}
