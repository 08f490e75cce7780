import { existsSync } from 'node:fs'
import {
  type AuthError,
  authOf,
  closeWhenEnded,
  requireBearer,
  tokenRouter,
  type VerifiedToken,
} from 'express-token-endpoint'
import { ACCOUNTS, fastPasswords, issueNow, makeIssuer, makeStore } from '../support/fixtures.js'
import { isMissing } from '../support/services/missing.js'

/** True when the packages of `test/hosts/package.json` are not installed, for `describe.skipIf`. */
export const NO_HOSTS = isMissing(
  existsSync(new URL('node_modules/.package-lock.json', import.meta.url)),
  'test/hosts/node_modules',
  'npm ci --prefix test/hosts --ignore-scripts',
)

/** The scope of the guarded route. Alice has it and Bob does not. */
export const SCOPE = 'reports:read'

/** Creates what each host mounts: the token endpoint, and the guard of `/reports`. */
export function makeKit() {
  const tokens = makeIssuer()
  const accounts = makeStore()
  const { alice, bob } = ACCOUNTS
  let revoked = false
  let now = () => Date.now()
  const clock = () => now()
  return {
    tokens,
    accounts,
    authOf,
    /** Closes a connection on the next tick after `revokeAll`, at most one second later. */
    closeWhenEnded: (auth: VerifiedToken, close: (error: AuthError) => void) =>
      closeWhenEnded(auth, close, { isRevoked: () => revoked, clock }),
    revokeAll() {
      revoked = true
      now = () => Date.now() + 40_000
    },
    router: tokenRouter({ tokens, accounts, passwords: fastPasswords() }),
    guard: requireBearer({ tokens, accounts, scope: SCOPE }),
    forwarding: requireBearer({ tokens, accounts, scope: SCOPE, forwardErrors: 'all' }),
    /** Tokens that need no login. */
    issued: {
      alice: issueNow(tokens, { accountId: alice.id, scopes: alice.scopes }).token,
      bob: issueNow(tokens, { accountId: bob.id }).token,
      forged: issueNow(tokens, { accountId: alice.id, scopes: alice.scopes }).token.replace(/[^.]+$/, 'A'.repeat(43)),
    },
  }
}

export type Kit = ReturnType<typeof makeKit>
