import { REFUSALS } from '../errors/codes.js'
import type { SignInRefusal } from '../errors/sign-in-refusal.js'
import { codesOf } from './responses.js'
import type { Schema } from './types.js'

const EMAIL = { type: 'string', description: 'Registered account e-mail address.', examples: ['alice@example.com'] }

/** Returns the schema of the request body. It accepts every string as an address, because the account store decides which addresses exist. */
export const credentialsSchema = (further: Record<string, Schema>): Schema => ({
  type: 'object',
  required: ['email', 'password'],
  properties: {
    email: EMAIL,
    password: { type: 'string', format: 'password', description: 'Account password. Every byte counts.' },
    ...further,
  },
})

export const TokenResult: Schema = {
  type: 'object',
  required: ['authenticationToken', 'expiration'],
  properties: {
    authenticationToken: {
      type: 'string',
      description: 'The authorization token. Send it as `Authorization: Bearer <authenticationToken>`.',
    },
    expiration: {
      type: 'string',
      format: 'date-time',
      pattern: String.raw`\.\d+Z$`,
      description: 'Expiration time of the token: ISO 8601 in UTC, with fractional seconds.',
    },
  },
  additionalProperties: false,
}

/**
 * Returns the schema of problem details (RFC 9457 section 3.1) with the code of the refusal.
 * @param own refusals of the host
 */
export const authProblem = (own: readonly SignInRefusal[]): Schema => ({
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The name of the HTTP status.' },
    status: { type: 'integer', description: 'The HTTP status of the response.' },
    code: {
      type: 'string',
      enum: [...new Set([...codesOf().filter((code) => !REFUSALS[code].empty), ...own.map(({ code }) => code)])],
      description: 'The code of the refusal. Does not change between versions.',
    },
    detail: {
      type: 'string',
      description: 'An explanation for people. May change between versions, so programs should read `code`.',
    },
  },
})

/** A JWK set (RFC 7517 sections 4 and 5). RFC 7518 section 6 has the members of each kind of key. */
export const TokenKeySet: Schema = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['kty', 'kid', 'alg', 'use'],
        properties: {
          kty: { type: 'string', enum: ['RSA', 'EC', 'OKP'] },
          kid: { type: 'string' },
          alg: { type: 'string' },
          use: { const: 'sig' },
        },
      },
    },
  },
}

const time: Schema = { type: 'string', format: 'date-time' }
const text = (description: string): Schema => ({ type: ['string', 'null'], description })

const session: Record<string, Schema> = {
  id: { type: 'string', description: "The id of the session's token. It gives no access." },
  createdAt: { ...time, description: 'The time of the sign-in.' },
  expiresAt: { ...time, description: 'The day after which the session has ended by itself: midnight in UTC.' },
  lastUsedAt: { ...time, description: 'The hour of the last request, or the time of a sign-in in that hour.' },
  address: text('The address of the sign-in.'),
  userAgent: text('The `User-Agent` of the sign-in.'),
  label: text('The name of the device.'),
  current: { type: 'boolean', description: 'True for the session of the request.' },
}

export const SessionList: Schema = {
  type: 'object',
  required: ['sessions'],
  properties: {
    sessions: {
      type: 'array',
      items: { type: 'object', required: Object.keys(session), properties: session, additionalProperties: false },
    },
  },
  additionalProperties: false,
}
