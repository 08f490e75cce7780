import type { Account, AccountLookup, AccountStoreOption, LookUpResult } from '../accounts/account.js'
import { REFUSALS } from '../errors/codes.js'
import { anyBody, type Schema, type Success } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { type HttpResponse, jsonResponse, tokenResult } from '../http/responses.js'
import type { FinishSignIn } from '../login/finish-sign-in.js'
import type { LogInWith } from '../login/log-in.js'
import { type LoginOptions, loginSchema } from '../login/login-options.js'
import { LOGIN_RESPONSES } from '../login/login-refusals.js'
import { createCredentialsOf, waitForTurn } from '../login/read-credentials.js'
import { FACTOR_REFUSALS, OTP_MEMBER } from '../login/second-factor.js'
import { type RespondOptions, respondOption, type TokenSettings } from '../login/token-settings.js'
import type { DescribedSchemas, Feature } from './feature.js'

export interface SignInParts extends TokenSettings {
  logIn: LogInWith
  finishSignIn: FinishSignIn
}

/** The options of a sign-in in an app. */
export interface SignInOptions<A extends LookUpResult = Account>
  extends Omit<LoginOptions<A>, 'accounts'>,
    RespondOptions<A> {
  /**
   * Function `(email) => account`, or an [account
   * store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/accounts.md).
   */
  accounts: AccountLookup<A> | AccountStoreOption<A>
}

export const signInOptions = { ...loginSchema, respond: respondOption }

/** The default path of the token endpoint. */
export const TOKEN_PATH = '/api/v2013/authentication/token'

/** The member of a sign-in whose refresh token is in a cookie. */
export const rememberSchema: Schema = {
  type: 'boolean',
  description: 'Pass false to sign the user out when the browser closes.',
  default: true,
}

/** Accepts every string as an address, because the account store decides which addresses exist. */
const credentials = ({ extraFields, tokenRequest, modes, hasFactors }: DescribedSchemas): Schema => {
  const email = { type: 'string', description: 'Registered account e-mail address.', examples: ['alice@example.com'] }
  const password = { type: 'string', format: 'password', description: 'Account password. Every byte counts.' }
  const properties = { email, password, ...extraFields, ...(hasFactors && OTP_MEMBER) }
  const schema = tokenRequest ?? { type: 'object', required: ['email', 'password'], properties }
  return modes.includes('cookie') ? withMember(schema, { remember: rememberSchema }) : schema
}

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

/** The response of a client that keeps its refresh token itself has a third member. */
function result({ tokenResponse = TokenResult, modes }: DescribedSchemas): Schema {
  const description = 'The refresh token. Keep it secret, and replace it after each refresh.'
  const refreshToken = { type: 'string', description }
  if (!modes.includes('body')) return tokenResponse
  return withMember(tokenResponse, { refreshToken }, modes.length === 1 ? ['refreshToken'] : [])
}

/** Adds members to a schema. */
export function withMember(schema: Schema, member: Record<string, Schema>, required: string[] = []): Schema {
  const before = schema as { required?: string[]; properties?: Record<string, Schema> }
  const all = [...(before.required ?? []), ...required]
  return { ...schema, ...(all.length > 0 && { required: all }), properties: { ...before.properties, ...member } }
}

const SAMPLE = tokenResult('eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln', new Date('2026-11-20T22:28:53.000Z'))
const REFRESH_TOKEN = '019ab0f1-7c3e-7000-8000-0123456789ab.0.c2ln'

/** A response with a token, as `finishSignIn` and a refresh make it. Only that of this package has examples. */
export const withToken: Omit<Success<HttpResponse>, 'description'> = {
  schema: 'TokenResult',
  sample: jsonResponse(''),
  respond: (response) => response,
  examples({ modes, responds }) {
    if (responds) return {}
    const isInBody = modes.includes('body')
    return {
      ...(!(isInBody && modes.length === 1) && { token: { value: SAMPLE } }),
      ...(isInBody && { tokenAndRefreshToken: { value: { ...SAMPLE, refreshToken: REFRESH_TOKEN } } }),
    }
  },
}

/** A response with a token, and without a refresh token in all modes. */
export const withAccessToken: typeof withToken = {
  ...withToken,
  examples: ({ responds }) => (responds ? {} : { token: { value: SAMPLE } }),
}

/** The token endpoint: credentials → account → token. */
export const signInFeature: Feature<SignInParts> = {
  at: 'token',
  options: signInOptions,
  schemas: (described) => ({ TokenCredentials: credentials(described), TokenResult: result(described) }),
  endpoints: [
    endpoint({
      id: 'issueToken',
      method: 'POST',
      path: '',
      origin: 'own with cookie',
      body: anyBody('TokenCredentials', REFUSALS.invalid_body.message),
      summary: 'Get a token',
      description: 'Authenticates an account by its password. The request has no realm.',
      responses: {
        200: { ...withToken, description: 'The token and its expiration time.', ownDescription: 'The token.' },
        ...LOGIN_RESPONSES,
      },
      ofHost: true,
      ofFactor: FACTOR_REFUSALS,
      events: 'token',
      turns: waitForTurn,
      before:
        ({ limits }: SignInParts) =>
        ({ origin }) =>
          limits.checkAddress(origin.address),
      handle(parts: SignInParts) {
        const { logIn, finishSignIn } = parts
        const credentialsOf = createCredentialsOf(parts)
        return async ({ body, req, res, origin, about, mode }) => {
          const { remember, ...credentials } = credentialsOf(body.sent, req)
          const known = await logIn(credentials, origin, about)
          return finishSignIn({ ...known, req, res, origin, about, mode, remember })
        }
      },
    }),
  ],
}
