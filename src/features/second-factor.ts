import { type AccountParts, accountCall, accountCalls, ownAccount } from '../account/account-parts.js'
import { factorsChanged } from '../account/factors-changed.js'
import { SignInRefusal } from '../errors/sign-in-refusal.js'
import type { Emit } from '../events/emitter.js'
import type { Factors } from '../factors/factors.js'
import { empty, json, members, type Schema, text as textMember } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { OTP } from '../login/second-factor.js'
import { text } from '../options/checks.js'
import { PAGE } from '../options/misuse.js'
import { type Check, InvalidOption, named, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { withoutChange } from '../sessions/sessions.js'
import { type Feature, FIND_BY_ID, type Need, recent, SESSIONS } from './feature.js'

/** The option `secondFactor` as an object. */
export interface SecondFactorName {
  /** The name of your app in the user's authenticator app. Default: the host of the issuer. */
  name?: string | undefined
}

/** The option of a second factor in an app. */
export interface SecondFactorOptions {
  /**
   * Enables [authenticator apps](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md).
   * Pass `true`, or `{ name }` with your app's name. Requires `secret`. Default: `false`.
   */
  secondFactor?: boolean | SecondFactorName | undefined
}

const nameSchema = { name: optional(text('the name of an app, without a colon', /^[^:]{1,64}$/)) }

const secondFactorOption: Check<{ name: string | undefined } | undefined> = (value) => {
  if (value === false) return undefined
  if (value !== true && !isPlainObject(value)) throw new InvalidOption("true, or an object like { name: 'Example' }")
  const given = value === true ? {} : (value as SecondFactorName)
  return readOptions<SecondFactorName, typeof nameSchema>('createAuth: option "secondFactor"', given, nameSchema)
}

export const secondFactorOptions = { secondFactor: optional(secondFactorOption) }

export const FACTORS: Need = {
  part: 'store.factors',
  text: '"store" with "factors". Pass memoryStore(), or one of a database',
}
const SECRET: Need = {
  part: 'secret',
  text: '"secret", which encrypts the secrets of authenticator apps. Create one with: npx express-token-endpoint keygen --alg HS256',
}

export interface SecondFactorParts extends AccountParts {
  factors: Factors
}

const TotpSecret: Schema = {
  type: 'object',
  required: ['secret', 'uri'],
  properties: {
    secret: { type: 'string', description: 'The secret in base32, to type.' },
    uri: { type: 'string', description: 'The same as an `otpauth` URI, for a QR code.' },
  },
  additionalProperties: false,
}

const RecoveryCodes: Schema = {
  type: 'object',
  required: ['recoveryCodes'],
  properties: {
    recoveryCodes: {
      type: 'array',
      items: { type: 'string', examples: ['abcd-efgh-ijkl-mnop'] },
      description: 'Ten codes that each work once in place of a code of the app. They are shown only here.',
    },
  },
  additionalProperties: false,
}

const otp = textMember('The code that the authenticator app shows.', { examples: ['123456'] })

/** The second factors of all accounts: `auth.factors`. */
export interface HostFactors {
  /**
   * Removes the authenticator app of an account and its recovery codes, for a user who has lost both. Verify the identity first. Sessions stay:
   * end them with `auth.sessions.endAll`.
   * @returns whether the account had one
   * @throws AuthError `unavailable` when the store fails. TypeError for an id that is not a non-empty text
   */
  remove(accountId: string): Promise<boolean>
}

const accountIdOption = text('a non-empty string')

export const hostFactors = (factors: Factors, emit: Emit): HostFactors =>
  Object.freeze({
    async remove(accountId: string) {
      named('factors.remove: the account id', accountIdOption, accountId, PAGE.signOut)
      const wasOn = await factors.remove(accountId)
      if (wasOn) emit({ address: undefined }, { type: 'factor.removed', accountId, factor: 'totp' })
      return wasOn
    },
  })

const wrongCode = () =>
  new SignInRefusal('wrong_code', { detail: 'The code is wrong, or the set-up is older than ten minutes.' })

/** The second factor of a user: an authenticator app (RFC 6238) with recovery codes. */
export const secondFactorFeature: Feature<SecondFactorParts> = {
  at: 'account',
  options: secondFactorOptions,
  needs: { secondFactor: [SESSIONS, FACTORS, SECRET, FIND_BY_ID] },
  schemas: () => ({ TotpSecret, RecoveryCodes }),
  endpoints: [
    endpoint({
      id: 'beginTotp',
      method: 'POST',
      path: '/totp',
      guard: recent,
      summary: 'Begin the set-up of an authenticator app',
      description:
        'Returns a new secret, which waits ten minutes for its first code. An app that is on stays on until then.',
      responses: { 200: json('TotpSecret', 'The secret.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle: (parts: SecondFactorParts) => async (call) => {
        accountCall(parts, call)
        const { account } = await ownAccount(parts, call.auth)
        return parts.factors.begin(account.id, account.email ?? account.id)
      },
    }),

    endpoint({
      id: 'confirmTotp',
      method: 'POST',
      path: '/totp/confirm',
      guard: recent,
      body: members({ [OTP]: otp }),
      summary: 'Switch an authenticator app on',
      description: 'Takes the first code of the app. Ends the other sessions.',
      ofFactor: [wrongCode()],
      responses: { 200: json('RecoveryCodes', 'The recovery codes.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle: (parts: SecondFactorParts) => async (call) => {
        const of = accountCall(parts, call)
        const { account } = await ownAccount(parts, call.auth)
        const recoveryCodes = await parts.factors.confirm(account.id, call.body[OTP])
        if (!recoveryCodes) throw wrongCode()
        await factorsChanged(parts, call, of, { account, type: 'factor.added', kind: 'totp' })
        return { recoveryCodes }
      },
    }),

    endpoint({
      id: 'removeTotp',
      method: 'DELETE',
      path: '/totp',
      guard: recent,
      summary: 'Switch the authenticator app off',
      description: 'Removes the recovery codes too. Ends the other sessions.',
      responses: { 204: empty('The account has no authenticator app.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle: (parts: SecondFactorParts) => async (call) => {
        const of = accountCall(parts, call)
        const { account } = await ownAccount(parts, call.auth)
        // Before the removal, too, because a removal that is cut off afterwards could not be repeated.
        if (await parts.factors.isOn(account.id))
          await parts.sessions?.endOthers(withoutChange(call.auth), call.origin.address)
        const wasOn = await parts.factors.remove(account.id)
        if (wasOn) await factorsChanged(parts, call, of, { account, type: 'factor.removed', kind: 'totp' })
      },
    }),

    endpoint({
      id: 'renewRecoveryCodes',
      method: 'POST',
      path: '/recovery-codes',
      guard: recent,
      summary: 'Get new recovery codes',
      description: 'The old codes stop working. Ends the other sessions.',
      responses: {
        200: json('RecoveryCodes', 'The recovery codes.'),
        409: 'no_second_factor',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: SecondFactorParts) => async (call) => {
        const of = accountCall(parts, call)
        const { account } = await ownAccount(parts, call.auth)
        if (!(await parts.factors.isOn(account.id))) throw call.refuse('no_second_factor')
        const recoveryCodes = await parts.factors.renewCodes(account.id)
        await factorsChanged(parts, call, of, { account, type: 'factor.added', kind: 'recovery-codes' })
        return { recoveryCodes }
      },
    }),
  ],
}
