import {
  type AccountParts,
  accountCall,
  accountCalls,
  endedRefusal,
  hasEnded,
  ownAccount,
} from '../account/account-parts.js'
import { factorsChanged } from '../account/factors-changed.js'
import type { Account } from '../accounts/account.js'
import { AuthError } from '../errors/auth-error.js'
import type { Factors } from '../factors/factors.js'
import { type PasskeyChecks, passkeysOption, type SentCredential } from '../factors/passkey-checks.js'
import { MOST_PASSKEYS, type Passkeys } from '../factors/passkeys.js'
import { anyBody, created, empty, json, type Schema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { BY_PASSKEY } from '../login/before-sign-in.js'
import { rememberIn } from '../login/read-credentials.js'
import { signInById } from '../login/sign-in-with.js'
import { optional } from '../options/read-options.js'
import { isPlainObject, own } from '../options/values.js'
import { sessionIdOf } from '../sessions/session.js'
import { type Feature, FIND_BY_ID, type Need, recent, SESSIONS, user } from './feature.js'
import { FACTORS } from './second-factor.js'
import { rememberSchema, withToken } from './sign-in.js'

/** The option of passkeys in an app. */
export interface PasskeysFeatureOptions {
  /**
   * Return value of
   * [`passkeys()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#passkeysoptions).
   * Requires `secret`. Default: no passkeys.
   */
  passkeys?: PasskeyChecks | false | undefined
}

export const passkeysOptions = { passkeys: optional(passkeysOption) }

const SECRET: Need = {
  part: 'secret',
  text: '"secret", which signs the challenges. Create one with: npx express-token-endpoint keygen --alg HS256',
}

export interface PasskeysParts extends AccountParts {
  passkeys: Passkeys
  /** The second factor of the app. Default: none. */
  factors: Pick<Factors, 'lift'> | undefined
  /** True where a mailed code signs in. */
  signsInByMail: boolean
}

/** The member of a body with the credential of the browser. */
export const PASSKEY = 'passkey'

/** The credential of the browser, as `JSON.stringify` writes it. */
export const credentialSchema: Schema = {
  type: 'object',
  description: 'The credential of the browser as JSON: what `navigator.credentials` returns.',
  required: ['id', 'rawId', 'type', 'response'],
  properties: {
    id: { type: 'string' },
    rawId: { type: 'string' },
    type: { type: 'string', enum: ['public-key'] },
    response: { type: 'object' },
  },
}

/** The longest name of a passkey, in characters (code points). */
const LONGEST_NAME = 64

const NewPasskey: Schema = {
  type: 'object',
  required: [PASSKEY],
  properties: {
    [PASSKEY]: credentialSchema,
    name: { type: 'string', maxLength: LONGEST_NAME, description: 'The name that the user gave the passkey.' },
  },
}

const PasskeySignIn: Schema = {
  type: 'object',
  required: [PASSKEY],
  properties: {
    [PASSKEY]: credentialSchema,
    remember: rememberSchema,
  },
}

/** The options are those of WebAuthn, which a later version of the package may extend. */
const optionsSchema = (what: string): Schema => ({
  type: 'object',
  required: ['challenge'],
  properties: { challenge: { type: 'string', description: 'Works once, for ten minutes.' } },
  additionalProperties: true,
  description: `The options for \`PublicKeyCredential.parse${what}OptionsFromJSON\`.`,
})

const time = { type: ['string', 'null'], format: 'date-time' }

const Passkey: Schema = {
  type: 'object',
  required: ['id', 'name', 'createdAt', 'lastUsedAt'],
  properties: {
    id: { type: 'string', description: 'The id of the passkey. It gives no access.' },
    name: { type: ['string', 'null'], description: 'The name that the user gave the passkey.' },
    createdAt: { type: 'string', format: 'date-time' },
    lastUsedAt: { ...time, description: 'The time of the last sign-in. Null before the first one.' },
  },
  additionalProperties: false,
}

const PasskeyList: Schema = {
  type: 'object',
  required: ['passkeys'],
  properties: { passkeys: { type: 'array', items: Passkey } },
  additionalProperties: false,
}

const textsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isPlainObject(value) ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

const TRANSPORT = /^[a-z-]{1,16}$/

const NO_CREDENTIAL = `The request body must contain "${PASSKEY}", the credential from the browser.`

/**
 * Returns the credential in a body. It is checked later.
 * @throws AuthError `invalid_body`
 */
export function credentialIn(sent: unknown): SentCredential {
  const credential = isPlainObject(sent) ? own(sent, PASSKEY) : undefined
  const response = isPlainObject(credential) ? own(credential, 'response') : undefined
  const { id, rawId, type } = textsIn(credential)
  if (id !== undefined && rawId !== undefined && type !== undefined && isPlainObject(response)) {
    const transports: unknown = own(response, 'transports')
    const known = Array.isArray(transports) ? transports : []
    return {
      id,
      rawId,
      type,
      response: textsIn(response),
      transports: known.filter((one) => typeof one === 'string' && TRANSPORT.test(one)).slice(0, 8),
    }
  }
  throw new AuthError('invalid_body', { message: NO_CREDENTIAL })
}

/** Returns the name of a new passkey. */
function nameIn(sent: unknown): string | null {
  const name = isPlainObject(sent) ? own(sent, 'name') : undefined
  if (name === undefined || name === null || name === '') return null
  const isName =
    typeof name === 'string' && name.isWellFormed() && !/\p{Cc}/u.test(name) && [...name].length <= LONGEST_NAME
  if (isName) return name
  throw new AuthError('invalid_body', { message: `"name" must be a string of at most ${LONGEST_NAME} characters.` })
}

/** Returns whether an account can sign in only with passkeys. */
const isOnlyWay = ({ passwordHash, email }: Account, { signsInByMail }: PasskeysParts): boolean =>
  passwordHash === null && !(signsInByMail && email)

/** The passkeys of a user: adding, listing and removing. */
export const passkeysFeature: Feature<PasskeysParts> = {
  at: 'account',
  options: passkeysOptions,
  needs: { passkeys: [SESSIONS, FACTORS, SECRET, FIND_BY_ID] },
  schemas: () => ({ NewPasskey, Passkey, PasskeyList, PasskeyCreationOptions: optionsSchema('Creation') }),
  endpoints: [
    endpoint({
      id: 'beginPasskey',
      method: 'POST',
      path: '/passkeys/options',
      guard: recent,
      summary: 'Begin to add a passkey',
      description:
        'Returns the options for `navigator.credentials.create`. They work once, in this session, for ten minutes.',
      responses: { 200: json('PasskeyCreationOptions', 'The options.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle: (parts: PasskeysParts) => async (call) => {
        accountCall(parts, call)
        const { account } = await ownAccount(parts, call.auth)
        return parts.passkeys.begin(account, sessionIdOf(call.auth))
      },
    }),

    endpoint({
      id: 'addPasskey',
      method: 'POST',
      path: '/passkeys',
      guard: recent,
      body: anyBody('NewPasskey', NO_CREDENTIAL),
      summary: 'Add a passkey',
      description: `Takes the credential that the browser has made. Ends the other sessions. An account has at most ${MOST_PASSKEYS} passkeys.`,
      responses: {
        201: created('Passkey', 'The passkey.'),
        403: 'invalid_code',
        409: 'too_many_passkeys',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: PasskeysParts) => async (call) => {
        const { auth, body, refuse } = call
        const of = accountCall(parts, call)
        const [sent, name] = [credentialIn(body.sent), nameIn(body.sent)]
        const { account } = await ownAccount(parts, auth)
        const { id: accountId } = account
        const passkey = await parts.passkeys.add(accountId, { sessionId: sessionIdOf(auth), sent, name })
        if (!passkey) throw refuse('too_many_passkeys', { accountId })
        if (await hasEnded(parts, auth)) {
          await parts.passkeys.takeBack(accountId, passkey.id)
          throw endedRefusal(auth)
        }
        await factorsChanged(parts, call, of, { account, type: 'factor.added', kind: 'passkey', details: { passkey } })
        return passkey
      },
    }),

    endpoint({
      id: 'listPasskeys',
      method: 'GET',
      path: '/passkeys',
      guard: user,
      summary: 'List your passkeys',
      description: 'The oldest passkey is first.',
      responses: { 200: json('PasskeyList', 'The passkeys of the account.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle:
        ({ passkeys }: PasskeysParts) =>
        async ({ auth }) => ({ passkeys: await passkeys.list(auth.accountId) }),
    }),

    endpoint({
      id: 'removePasskey',
      method: 'DELETE',
      path: '/passkeys/{id}',
      guard: recent,
      summary: 'Remove a passkey',
      description:
        'Ends the other sessions. The last passkey of an account stays, if the account has no other way to sign in.',
      responses: {
        204: empty('The passkey was removed.'),
        404: 'unknown_passkey',
        409: 'last_sign_in_method',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: PasskeysParts) => async (call) => {
        const { auth, params, refuse } = call
        const of = accountCall(parts, call)
        const { account } = await ownAccount(parts, auth)
        const passkey = await parts.passkeys.remove(account.id, params.id, isOnlyWay(account, parts))
        if (passkey === 'unknown') throw refuse('unknown_passkey', { accountId: account.id })
        if (passkey === 'last') throw refuse('last_sign_in_method', { accountId: account.id })
        await factorsChanged(parts, call, of, {
          account,
          type: 'factor.removed',
          kind: 'passkey',
          details: { passkey },
        })
      },
    }),
  ],
}

/** The sign-in with a passkey. It counts as both factors, because the authenticator has asked for a finger, a face or a PIN. */
export const passkeySignInFeature: Feature<PasskeysParts> = {
  at: 'token',
  schemas: () => ({ PasskeySignIn, PasskeyRequestOptions: optionsSchema('Request') }),
  endpoints: [
    endpoint({
      id: 'beginPasskeySignIn',
      method: 'POST',
      path: '/passkey/options',
      summary: 'Begin to sign in with a passkey',
      description:
        'Returns the options for `navigator.credentials.get`. They work once, for ten minutes, and name no account.',
      responses: { 200: json('PasskeyRequestOptions', 'The options.'), 503: 'overloaded' },
      calls: accountCalls,
      handle:
        ({ passkeys }: PasskeysParts) =>
        () =>
          passkeys.beginSignIn(),
    }),

    endpoint({
      id: 'passkeySignIn',
      method: 'POST',
      path: '/passkey',
      origin: 'own with cookie',
      body: anyBody('PasskeySignIn', NO_CREDENTIAL),
      summary: 'Sign in with a passkey',
      description: 'The response is that of the token endpoint.',
      responses: {
        200: { ...withToken, description: 'The token and its expiration time.', ownDescription: 'The token.' },
        403: 'invalid_credentials',
        503: ['overloaded', 'unavailable'],
      },
      ofHost: true,
      events: 'token',
      calls: accountCalls,
      handle: (parts: PasskeysParts) => async (call) => {
        const { body, req, res, origin, about, mode, refuse } = call
        const { passkeys } = parts
        const of = accountCall(parts, call, body.sent)
        const passkey = await passkeys.check(credentialIn(body.sent))
        const { accountId } = passkey
        const known = await signInById(parts, accountId, { ...of, ...BY_PASSKEY })
        // The passkey may have been removed meanwhile, and with it all sessions but one.
        const useUp = async () => {
          if (!(await passkeys.isStored(passkey))) throw refuse('invalid_credentials', { accountId })
          await parts.factors?.lift(accountId)
        }
        const task = { ...known, req, res, origin, about, mode, useUp, remember: rememberIn(body.sent) }
        return parts.finishSignIn(task)
      },
    }),
  ],
}
