import type { HeaderName } from '../http/shared/answers.js'
import type { Header, Schema } from './types.js'

interface Row {
  description: string
  /** Its values, from those that it has in the answers. */
  schema: (values: readonly string[]) => Schema
}

/** One of the values, letter for letter. */
const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: [...new Set(values)] })

/** A row for every header that this package sends, but for the one that is documented as a media type. */
const HEADERS: Readonly<Record<Exclude<HeaderName, 'Content-Type'> | 'ETag', Row>> = {
  Allow: { description: 'The methods that can be used here.', schema: oneOf },
  'Cache-Control': { description: 'For how long, and by whom, this answer may be kept.', schema: oneOf },
  ETag: {
    description: 'Changes with the content. Unless the app has switched it off.',
    schema: () => ({ type: 'string' }),
  },
  Pragma: { description: 'The same, for caches from before `Cache-Control`.', schema: oneOf },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: () => ({ type: 'integer', minimum: 1 }),
  },
  'WWW-Authenticate': {
    description: 'The challenge (RFC 6750 section 3).',
    schema: (values) => ({ type: 'string', pattern: `^(${[...new Set(values.map(challengePattern))].join('|')})$` }),
  },
}

export function headerOf(name: keyof typeof HEADERS, values: readonly string[], required = true): Header {
  const { description, schema } = HEADERS[name]
  return { description, required, schema: schema(values) }
}

/** RFC 9110 section 5.6.4: `quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE`. */
const QUOTED_STRING = String.raw`"([^"\\]|\\.)*"`

/** What a challenge says is its own in every app and for every route, but for its error code. */
function challengePattern(challenge: string): string {
  return challenge.replace(/\b(realm|error_description|scope)="[^"]*"/g, `$1=${QUOTED_STRING}`)
}
