import type { Request } from 'express'
import type { Account, UserOf } from '../accounts/account.js'
import { callHost } from '../concurrency/host-call.js'
import { limitTasks } from '../concurrency/limit.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { tokenText } from '../http/responses.js'
import { describe } from '../options/read-options.js'
import { isPlainObject, isValidDate } from '../options/values.js'
import type { IssuedToken, TokenSubject } from '../tokens/jwt/issue-token.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { CALL_CODES } from './start-session.js'
import type { RespondOptions } from './token-settings.js'

/** Limits the token calls that wait for functions of the host. The queue of the login does not limit them, because the login has ended. */
export const limitCalls = limitTasks(TOKEN_CALLS)

/** A new token, and the response as JSON. */
export interface Issued extends IssuedToken {
  text: string
}

interface IssuingSettings {
  tokens: TokenIssuer
  respond: RespondOptions['respond']
  /** The time limit for each function of the host, in milliseconds. */
  timeout: number
}

/** Creates the function that issues a token and makes its response, with the functions of the host. */
export function createIssuing({ tokens, respond, timeout }: IssuingSettings) {
  const calls = { timeout, passThrough: CALL_CODES }
  return async function issue(req: Request, subject: TokenSubject, account: object): Promise<Issued> {
    const issued = readIssued(await callHost('internal', () => tokens.issue(subject), calls))
    const { token, expiresAt } = issued
    if (!respond) return { ...issued, text: tokenText(issued) }
    const given = { token, expiresAt, account: account as UserOf<Account>, req }
    const makeText = async () => textOf(await respond(given))
    return { ...issued, text: await callHost('hook', makeText, { ...calls, about: { option: 'respond' } }) }
  }
}

/** @throws TypeError when an issuer of the host did not return what `issue` returns */
function readIssued(issued: IssuedToken): IssuedToken {
  const { token, expiresAt, id } = Object(issued) as IssuedToken
  if (typeof token !== 'string' || !isValidDate(expiresAt) || typeof id !== 'string') {
    throw new TypeError('tokens.issue() must return { token, expiresAt, id }, with a string, a Date and a string')
  }
  return { token, expiresAt, id }
}

/** @throws TypeError when `respond` did not return an object */
function textOf(body: unknown): string {
  const text = isPlainObject(body) ? JSON.stringify(body) : undefined
  if (!text?.startsWith('{')) throw new TypeError(`respond must return an object, but returned ${describe(body)}`)
  return text
}
