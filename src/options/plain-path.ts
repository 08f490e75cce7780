import { text } from './checks.js'

/** A path without route patterns: Express 4 and 5 read those differently. */
export const plainPath = text(
  "a path like '/token' or '/', without patterns and without a trailing slash",
  /^(\/|(\/[\w.~-]+)+)$/,
)
