/** ISO 8601 in UTC. `Date.parse` also reads other texts, for example `3600` as a year. */
const TIME = /^\d{4}-.+Z$/

/** Returns the own members of a value, so that a polluted prototype adds none. */
export const bare = <T>(value: T): T => Object.assign(Object.create(null), value)

/** Returns whether a value is text with characters. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Returns the members of an object in JSON, and none for other text. */
export function readJson(text: string | null): Record<string, unknown> {
  try {
    return bare(JSON.parse(String(text)))
  } catch {
    // The error would show a part of the text.
    return bare({})
  }
}

/** Returns the milliseconds since 1970 of a text in ISO 8601 and UTC, and 0 or NaN for other values. */
export const readTime = (text: unknown) => (isText(text) && TIME.test(text) ? Date.parse(text) : 0)
