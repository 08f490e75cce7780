import { existsSync } from 'node:fs'
import {
  type AuthError,
  authOf,
  closeWhenEnded,
  type GuardedRequest,
  requireBearer,
  tokenRouter,
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
  const addresses = new Set<string | undefined>()
  const guard = requireBearer({
    tokens,
    accounts,
    scope: SCOPE,
    isRevoked: () => revoked,
    onEvent: ({ address }) => void addresses.add(address),
  })
  return {
    tokens,
    accounts,
    authOf,
    /** The addresses of the clients that the guard has refused. */
    addresses,
    /** Closes a connection at most two seconds after `revokeAll`. */
    closeWhenEnded: (req: GuardedRequest, close: (error: AuthError) => void) =>
      closeWhenEnded(req, guard, close, { every: '1s' }),
    revokeAll() {
      revoked = true
    },
    router: tokenRouter({ tokens, accounts, passwords: fastPasswords() }),
    guard,
    forwarding: requireBearer({ tokens, accounts, scope: SCOPE, refuse: (error, _req, next) => next(error) }),
    /** Tokens that need no login. */
    issued: {
      alice: issueNow(tokens, { accountId: alice.id, scopes: alice.scopes }).token,
      bob: issueNow(tokens, { accountId: bob.id }).token,
      forged: issueNow(tokens, { accountId: alice.id, scopes: alice.scopes }).token.replace(/[^.]+$/, 'A'.repeat(43)),
    },
  }
}

export type Kit = ReturnType<typeof makeKit>
