import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { limitTasks } from '../concurrency/limit.js'
import { AuthError } from '../errors/auth-error.js'
import { anyBody, type Schema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { jsonResponse } from '../http/responses.js'
import { createIssuing } from '../login/issuing.js'
import { type AccountSubject, type KnownSignIn, withKeptTerms, withTerms } from '../login/known-sign-in.js'
import type { LogInWith } from '../login/log-in.js'
import { LOGIN_RESPONSES } from '../login/login-refusals.js'
import { createPasswordOf, waitForTurn } from '../login/read-credentials.js'
import { withinSession, withLongest } from '../login/refresh-mode.js'
import type { TokenSettings } from '../login/token-settings.js'
import { sessionIdOf } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { invalidToken, type VerifiedToken } from '../tokens/verified-token.js'
import { type DescribedSchemas, type Feature, user } from './feature.js'
import { TokenResult, withAccessToken } from './sign-in.js'

export interface StepUpParts extends TokenSettings {
  logIn: LogInWith
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

const request = ({ extraFields, tokenRequest }: DescribedSchemas): Schema =>
  tokenRequest ?? { type: 'object', required: ['password'], properties: { password, ...extraFields } }

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

/** The step-up: the password again, for a token of the same session with a new time of sign-in. */
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
      body: anyBody('StepUpRequest'),
      summary: 'Confirm the password',
      description:
        'Returns another token of the same session, for routes that need a recent sign-in. The refresh token stays. A wrong password counts as a failed login.',
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
      events: 'token',
      turns: waitForTurn,
      calls,
      before:
        ({ limits }: StepUpParts) =>
        ({ origin }) =>
          limits.checkAddress(origin.address),
      handle(parts: StepUpParts) {
        const { logIn, sessions, timeout } = parts
        const passwordOf = createPasswordOf(parts)
        const subjectFor = createSubject(parts)
        const issue = createIssuing(parts)

        return async ({ req, auth, body, origin, about, report, refuse }) => {
          const { accountId } = auth
          const credentials = passwordOf(body.sent, req)
          const findKnown = accountFinder(parts, auth)
          // The limits of a sign-in count by the address too.
          const email = (await findKnown())?.account.email || accountId
          const known = await logIn({ ...credentials, email, findKnown }, origin, about)
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
