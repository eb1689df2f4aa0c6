import { offsetOf } from "../documents/json-text"

/** What a node says is wrong with a text, and where. */
export interface ErrorAtPlace {
  /** The sentence alone. */
  message: string
  /** The character of the text; null when the node named none. */
  at: number | null
}

/** Takes apart `'>' stands where a value must stand.\nLine 1, column 24:\n…\n   ^`. */
export function errorOfQuery(message: string, text: string): ErrorAtPlace {
  const place = /\n?Line (\d+), column (\d+):?/.exec(message)
  if (!place) return { message, at: null }
  return { message: message.slice(0, place.index).trim(), at: offsetOf(text, Number(place[1]), Number(place[2])) }
}
