import { REFUSALS } from '../errors/codes.js'
import type { SignInRefusal } from '../errors/sign-in-refusal.js'
import { seenCodes } from './message.js'
import type { Schema } from './types.js'

/**
 * Returns the schema of problem details (RFC 9457 section 3.1) with the code of the refusal.
 * @param own refusals of the host
 * @param hasAccount true where the document has account routes, whose refusals all have a body
 */
export const authProblem = (own: readonly SignInRefusal[], hasAccount: boolean): Schema => ({
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The name of the HTTP status.' },
    status: { type: 'integer', description: 'The HTTP status of the response.' },
    code: {
      type: 'string',
      enum: [
        ...new Set([
          ...seenCodes().filter((code) => !REFUSALS[code].empty || (hasAccount && code === 'invalid_credentials')),
          ...own.map(({ code }) => code),
        ]),
      ],
      description: 'The code of the refusal. Does not change between versions.',
    },
    detail: {
      type: 'string',
      description: 'An explanation for people. May change between versions, so programs should read `code`.',
    },
    ...(hasAccount && { reason: { type: 'string', description: 'The reason for `weak_password`.' } }),
  },
})
