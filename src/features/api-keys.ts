import {
  type AccountParts,
  accountCall,
  accountCalls,
  endedRefusal,
  hasEnded,
  ownAccount,
} from '../account/account-parts.js'
import { AuthError } from '../errors/auth-error.js'
import { isApiKey } from '../factors/api-key.js'
import type { ApiKey, ApiKeys } from '../factors/api-keys.js'
import { anyBody, created, empty, json, type Schema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { duration, isScopeList, LONGEST_AGE } from '../options/checks.js'
import { isPlainObject, own, resultOrUndefined } from '../options/values.js'
import type { CustomTokenVerifier } from '../tokens/token-verifier.js'
import { withClock } from '../tokens/verifier.js'
import { type Feature, FIND_BY_ID, onOrOff, recent, SESSIONS, user } from './feature.js'
import { FACTORS } from './second-factor.js'

/** The option of API keys in an app. */
export interface ApiKeysOptions {
  /**
   * `true` lets users create [API
   * keys](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md#api-keys). Default:
   * `false`.
   */
  apiKeys?: boolean | undefined
}

export const apiKeysOptions = { apiKeys: onOrOff }

export interface ApiKeysParts extends AccountParts {
  apiKeys: ApiKeys
}

/** Returns the verifier of the keys of an app. Its tokens have no session, so no route about a session admits them. */
export function apiKeyVerifier(apiKeys: ApiKeys, issuer: string, now: () => number): CustomTokenVerifier {
  const verifier: CustomTokenVerifier = {
    issuer: `${issuer}#api-keys`,
    accepts: isApiKey,
    async verify(text) {
      const key = await apiKeys.find(text)
      if (!key) throw new AuthError('invalid_token', { reason: 'unknown_key' })
      const { id, accountId, scopes, createdAt: issuedAt, expiresAt } = key
      return { id, accountId, scopes, issuedAt, expiresAt }
    },
  }
  return withClock(verifier, now)
}

const KEY_LIFETIME = '30d'
const lifetimeOf = duration(1000, LONGEST_AGE)
const LONGEST_NAME = 64

interface NewKey {
  name: string
  scopes: readonly string[]
  lifetime: number
}

/** Reads the body of a new key. A form has its scopes as one text (RFC 6749 section 3.3). */
function readNewKey(sent: unknown): NewKey | undefined {
  const body = isPlainObject(sent) ? sent : {}
  const [name, given = [], age = KEY_LIFETIME] = ['name', 'scopes', 'lifetime'].map((member) => own(body, member))
  const scopes = typeof given === 'string' ? given.split(' ').filter(Boolean) : given
  const lifetime = resultOrUndefined(() => lifetimeOf(age))
  const isName = typeof name === 'string' && name.isWellFormed() && name !== '' && name.length <= LONGEST_NAME
  if (!isName || !isScopeList(scopes) || lifetime === undefined) return undefined
  return { name, scopes: [...new Set(scopes)], lifetime }
}

const NewApiKey: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: LONGEST_NAME, description: 'The name of the key in the list.' },
    scopes: {
      type: 'array',
      items: { type: 'string' },
      description: 'Scopes that the token and the account have. A form contains one string with spaces.',
      default: [],
    },
    lifetime: {
      type: ['string', 'integer'],
      description: 'Such as `30d`, or a number of seconds. At most 366 days.',
      default: '30d',
    },
  },
}

const time: Schema = { type: 'string', format: 'date-time' }
const shown: Record<string, Schema> = {
  id: { type: 'string', description: 'The id of the key. It gives no access.' },
  name: { type: 'string' },
  scopes: { type: 'array', items: { type: 'string' } },
  createdAt: time,
  expiresAt: time,
  lastUsedAt: { type: ['string', 'null'], format: 'date-time', description: 'The hour of the last use.' },
}

const ApiKeyList: Schema = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      items: { type: 'object', required: Object.keys(shown), properties: shown, additionalProperties: false },
    },
  },
  additionalProperties: false,
}

const ApiKeyText: Schema = {
  type: 'object',
  required: ['key'],
  properties: {
    key: { type: 'string', pattern: '^etk_[a-z2-7]{39}$', description: 'The key. It is shown only here.' },
  },
  additionalProperties: false,
}

const shownOf = ({ accountId: _, ...key }: ApiKey) => key

const NO_SCOPE = 'The token or the account does not have all the scopes requested for the key. Request fewer scopes.'
const BODY = 'The request body must contain "name", and may contain "scopes" and "lifetime".'

/** The API keys of a user. */
export const apiKeysFeature: Feature<ApiKeysParts> = {
  at: 'account',
  options: apiKeysOptions,
  needs: { apiKeys: [SESSIONS, FACTORS, FIND_BY_ID] },
  schemas: () => ({ NewApiKey, ApiKeyText, ApiKeyList }),
  endpoints: [
    endpoint({
      id: 'createApiKey',
      method: 'POST',
      path: '/api-keys',
      guard: recent,
      body: anyBody('NewApiKey', BODY),
      summary: 'Create an API key',
      description: 'An account has at most 20.',
      responses: {
        201: created('ApiKeyText', 'The key.'),
        400: 'invalid_body',
        403: 'forbidden',
        409: 'too_many_api_keys',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: ApiKeysParts) => async (call) => {
        const { auth, body, report, refuse } = call
        accountCall(parts, call, body.sent)
        const wanted = readNewKey(body.sent)
        if (!wanted) throw refuse('invalid_body', { message: BODY })
        const { account } = await ownAccount(parts, auth)
        // The guard has removed the scopes that the account has lost.
        const missing = wanted.scopes.filter((scope) => !auth.scopes.includes(scope))
        if (missing.length > 0) throw refuse('forbidden', { accountId: account.id, message: NO_SCOPE })
        const made = await parts.apiKeys.create(account.id, wanted)
        if (!made) throw refuse('too_many_api_keys')
        // A reset or a deletion in progress has removed the keys that it found.
        if (await hasEnded(parts, auth)) {
          await parts.apiKeys.remove(account.id, made.id)
          throw endedRefusal(auth)
        }
        report({ type: 'api-key.created', accountId: account.id, keyId: made.id })
        return { key: made.key }
      },
    }),

    endpoint({
      id: 'listApiKeys',
      method: 'GET',
      path: '/api-keys',
      guard: user,
      summary: 'List your API keys',
      description: 'Without the keys themselves.',
      responses: { 200: json('ApiKeyList', 'The keys, newest first.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle: (parts: ApiKeysParts) => async (call) => {
        accountCall(parts, call)
        return { keys: (await parts.apiKeys.list(call.auth.accountId)).map(shownOf) }
      },
    }),

    endpoint({
      id: 'removeApiKey',
      method: 'DELETE',
      path: '/api-keys/{id}',
      guard: recent,
      summary: 'Remove an API key',
      description: 'Every API of this environment then refuses it.',
      responses: { 204: empty('The key is gone.'), 404: 'unknown_api_key', 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle: (parts: ApiKeysParts) => async (call) => {
        const { auth, params, report, refuse } = call
        accountCall(parts, call)
        const { accountId } = auth
        if (!(await parts.apiKeys.remove(accountId, params.id))) throw refuse('unknown_api_key')
        report({ type: 'api-key.removed', accountId, keyId: params.id })
      },
    }),
  ],
}
