import { REFUSALS } from '../shared/errors.js'
import { codesOf } from './responses.js'
import type { Schema } from './types.js'

/** Every string is taken as it is: a client that held addresses to a form would refuse what the account store decides on. */
export const TokenCredentials: Schema = {
  type: 'object',
  required: ['email', 'password'],
  properties: {
    email: { type: 'string', description: 'Registered account e-mail address.', examples: ['alice@example.com'] },
    password: { type: 'string', format: 'password', description: 'Account password. Every byte counts.' },
  },
}

export const TokenResult: Schema = {
  type: 'object',
  required: ['authenticationToken', 'expiration'],
  properties: {
    authenticationToken: {
      type: 'string',
      description: 'The authorization token, to be sent as `Authorization: Bearer <authenticationToken>`.',
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

/** RFC 9457 section 3.1, with the stable code of the refusal. */
export const AuthProblem: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'What the status means in HTTP.' },
    status: { type: 'integer', description: "The answer's HTTP status." },
    code: {
      type: 'string',
      enum: codesOf().filter((code) => !REFUSALS[code].empty),
      description: 'Which refusal this is. Does not change between versions.',
    },
    detail: { type: 'string', description: 'For whoever reads the answer. May change; tell refusals apart by `code`.' },
  },
}

/** RFC 7517 sections 4 and 5, and RFC 7518 section 6 for the members of each kind of key. */
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
          kty: { type: 'string', enum: ['RSA', 'EC'] },
          kid: { type: 'string' },
          alg: { type: 'string' },
          use: { const: 'sig' },
        },
      },
    },
  },
}
