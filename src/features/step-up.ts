import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { limitTasks } from '../concurrency/limit.js'
import { AuthError } from '../errors/auth-error.js'
import type { Factors } from '../factors/factors.js'
import type { Passkeys } from '../factors/passkeys.js'
import { anyBody, type Schema } from '../http/declaration.js'
import { type Call, endpoint } from '../http/endpoint.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { jsonResponse } from '../http/responses.js'
import { BY_PASSKEY } from '../login/before-sign-in.js'
import { createIssuing } from '../login/issuing.js'
import { type AccountSubject, type KnownSignIn, withKeptTerms, withTerms } from '../login/known-sign-in.js'
import type { LogInWith } from '../login/log-in.js'
import { LOGIN_RESPONSES } from '../login/login-refusals.js'
import { createPasswordOf, fieldsIn, hasUnnamedIn, NO_PASSWORD, waitForTurn } from '../login/read-credentials.js'
import { withinSession, withLongest } from '../login/refresh-mode.js'
import { FACTOR_REFUSALS, OTP_MEMBER } from '../login/second-factor.js'
import { type SignInWithParts, signInWith } from '../login/sign-in-with.js'
import type { TokenSettings } from '../login/token-settings.js'
import { isPlainObject } from '../options/values.js'
import { sessionIdOf } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { invalidToken, type VerifiedToken } from '../tokens/verified-token.js'
import { type DescribedSchemas, type Feature, user } from './feature.js'
import { credentialIn, credentialSchema, PASSKEY } from './passkeys.js'
import { TokenResult, withAccessToken } from './sign-in.js'

export interface StepUpParts extends TokenSettings, SignInWithParts {
  logIn: LogInWith
  /** The passkeys of the app. Default: none. */
  passkeys: Pick<Passkeys, 'check'> | undefined
  /** The second factor of the app. Default: none. */
  factors: Pick<Factors, 'lift'> | undefined
  findById: FindById
  sessions: Sessions
}

/** Limits the step-ups in progress. Not with those of sign-ins, because a step-up also waits in the queue of the passwords. */
const calls = limitTasks(TOKEN_CALLS)

const password: Schema = {
  type: 'string',
  format: 'password',
  description: 'The password of the account of the token.',
}

function request({ extraFields, tokenRequest, passkeys, hasFactors }: DescribedSchemas): Schema {
  if (tokenRequest) return tokenRequest
  const properties = { password, ...extraFields, ...(hasFactors && OTP_MEMBER) }
  if (!passkeys) return { type: 'object', required: ['password'], properties }
  const either = [['password'], [PASSKEY]].map((required) => ({ required }))
  return { type: 'object', anyOf: either, properties: { ...properties, [PASSKEY]: credentialSchema } }
}

/** Creates the look-up of the account of a token. An account that has ended the token meanwhile is not found. */
const accountFinder = ({ findById, timeout }: StepUpParts, { accountId, issuedAt }: VerifiedToken) =>
  async function findKnown() {
    const found = await findAccount(findById, accountId, timeout)
    return currentAccount(found, issuedAt) === 'superseded' ? undefined : found
  }

/** Returns the subject of a token again: with its claims, and with those of its scopes that the account still has. */
function sameAgain({ scopes, claims }: VerifiedToken, ofAccount: AccountSubject): AccountSubject {
  const { auth_time: _, amr: __, ...own } = claims
  return { ...ofAccount, scopes: ofAccount.scopes.filter((scope) => scopes.includes(scope)), claims: own }
}

/** Creates the function that returns the subject of the new token: the one of the session of `auth`, and no wider. */
function createSubject({ refresh }: StepUpParts) {
  return async function subjectFor(auth: VerifiedToken, known: KnownSignIn): Promise<TokenSubject> {
    const { ofAccount, terms, subject } = known
    const { issuedAt } = ofAccount
    const sessionId = sessionIdOf(auth)
    const session = await refresh?.refreshSteps.findWithRefresh(sessionId)
    const kept = session?.terms
    const narrow = (base: AccountSubject) => {
      const scopes = terms?.scopes?.filter((scope) => base.scopes.includes(scope))
      return { ...withTerms(base, terms && { ...terms, scopes }), signedInAt: issuedAt, amr: subject.amr }
    }
    if (session && kept !== undefined) {
      const ofSession = await callHost('sessions', () => withKeptTerms(ofAccount, kept) as AccountSubject)
      return withinSession(narrow(ofSession), session, issuedAt.getTime())
    }
    // A session without refresh, or one of an earlier release, does not tell its terms. Its token does, and ends with it.
    const left = auth.expiresAt.getTime() - issuedAt.getTime()
    if (left < 1000) throw invalidToken('expired', auth)
    return { ...withLongest(narrow(sameAgain(auth, ofAccount)), left), sessionId }
  }
}

/** The request of a step-up. */
interface Confirmation extends Pick<Call, 'req' | 'origin' | 'about'> {
  readonly auth: VerifiedToken
  readonly sent: unknown
}

/** The step-up: the password again, or a passkey, for a token of the same session with a new time of sign-in. */
export const stepUpFeature: Feature<StepUpParts> = {
  at: 'token',
  schemas: (described) => ({
    StepUpRequest: request(described),
    StepUpResult: described.tokenResponse ?? TokenResult,
  }),
  endpoints: [
    endpoint({
      id: 'stepUp',
      method: 'POST',
      path: '/confirm',
      guard: user,
      body: anyBody('StepUpRequest', NO_PASSWORD),
      summary: 'Confirm the password or a passkey',
      description:
        'Returns a new token for the same session, for routes that need a recent sign-in. The refresh token stays the same. A wrong password counts as a failed login.',
      responses: {
        200: {
          ...withAccessToken,
          schema: 'StepUpResult',
          description: 'The token and its expiration time.',
          ownDescription: 'The token.',
        },
        ...LOGIN_RESPONSES,
      },
      ofHost: true,
      ofFactor: FACTOR_REFUSALS,
      events: 'token',
      turns: waitForTurn,
      calls,
      before:
        ({ limits }: StepUpParts) =>
        ({ origin }) =>
          limits.checkAddress(origin.address),
      handle(parts: StepUpParts) {
        const { logIn, sessions, timeout, passkeys, tokens, extraFields } = parts
        const passwordOf = createPasswordOf(parts)
        const subjectFor = createSubject(parts)
        const issue = createIssuing(parts)

        async function confirmByPassword({ req, auth, sent, origin, about }: Confirmation): Promise<KnownSignIn> {
          const credentials = passwordOf(sent, req)
          const findKnown = accountFinder(parts, auth)
          // The limits of a sign-in count by the address too.
          const email = (await findKnown())?.account.email || auth.accountId
          return logIn({ ...credentials, email, findKnown }, origin, about)
        }

        async function confirmByPasskey({ auth, sent, origin }: Confirmation): Promise<KnownSignIn> {
          const { accountId } = auth
          const passkey = await passkeys?.check(credentialIn(sent))
          if (passkey?.accountId !== accountId) throw new AuthError('invalid_credentials', { accountId })
          const lookedUpAt = new Date(Number(tokens.now()))
          const found = await accountFinder(parts, auth)()
          const fields = fieldsIn(sent, extraFields)
          const hasUnnamed = hasUnnamedIn(sent, [...extraFields, PASSKEY])
          const signIn = { ...BY_PASSKEY, fields, hasUnnamed, origin, found, accountId, lookedUpAt }
          const known = await signInWith(parts, signIn)
          await parts.factors?.lift(accountId)
          return known
        }

        return async ({ req, auth, body, origin, about, report, refuse }) => {
          const { accountId } = auth
          const byPasskey = passkeys && isPlainObject(body.sent) && Object.hasOwn(body.sent, PASSKEY)
          const confirm = byPasskey ? confirmByPasskey : confirmByPassword
          const known = await confirm({ req, auth, sent: body.sent, origin, about })
          const issued = await issue(req, await subjectFor(auth, known), known.user)
          // After the issue, because a change of the password ends what it finds.
          await known.recheckAccount()
          const isEnded = await callHost('sessions', () => sessions.isEnded(auth), { timeout })
          if (isEnded) throw refuse('invalid_credentials', { accountId })
          if (origin.signal.aborted) throw new AuthError('client_closed_request')
          const { id: tokenId, expiresAt, text } = issued
          report({ type: 'token.issued', accountId, tokenId, sessionId: sessionIdOf(auth), expiresAt })
          return jsonResponse(text)
        }
      },
    }),
  ],
}
