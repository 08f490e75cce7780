import type { HeaderName } from '../http/responses.js'
import type { Header, Schema } from './types.js'

interface HeaderRow {
  description: string
  /** Returns the header's schema for its values in the responses. */
  schema: (values: readonly string[]) => Schema
}

const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: [...new Set(values)] })

/** A row for every header that this package sends, except `Content-Type`, which is documented as the media type. */
const HEADERS: Readonly<Record<Exclude<HeaderName, 'Content-Type'> | 'ETag', HeaderRow>> = {
  Accept: { description: 'The supported media types (RFC 9110 section 15.5.16).', schema: oneOf },
  Allow: { description: 'The supported methods.', schema: oneOf },
  'Cache-Control': { description: 'The caches that may store this response, and for how long.', schema: oneOf },
  ETag: {
    description: 'Changes with the content. Missing if the app has disabled ETags.',
    schema: () => ({ type: 'string' }),
  },
  Pragma: { description: 'Same as `Cache-Control`, for HTTP/1.0 caches.', schema: oneOf },
  'Retry-After': {
    description: 'Seconds after which the client may try again.',
    schema: () => ({ type: 'integer', minimum: 1 }),
  },
  'WWW-Authenticate': {
    description: 'The challenge (RFC 6750 section 3).',
    schema: (values) => ({
      type: 'string',
      pattern: `^(${[...new Set(values.map(challengePattern))].join('|')})$`,
    }),
  },
}

export function headerOf(name: keyof typeof HEADERS, values: readonly string[], required: boolean): Header {
  const { description, schema } = HEADERS[name]
  return { description, required, schema: schema(values) }
}

/** RFC 9110 section 5.6.4: `quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE`. */
const QUOTED_STRING = String.raw`"([^"\\]|\\.)*"`

/**
 * Returns a pattern for a challenge. Apps and routes differ in the quoted parameters, but not in the error code. Only the challenges of
 * routes with scopes have `scope`.
 */
function challengePattern(challenge: string): string {
  const pattern = challenge.replace(/\b(realm|error_description|scope|max_age)="[^"]*"/g, `$1=${QUOTED_STRING}`)
  return challenge.includes(', scope=') ? pattern : `${pattern}(, scope=${QUOTED_STRING})?`
}
