/**
 * The parts of `src` that `npm run mutation` takes one at a time. Each has its files, and the tests that run against their mutants. A room has
 * few tests, because a mutant that survives has run all of them.
 * @type {Record<string, { mutate: string[], tests: string[] }>}
 */
export const ROOMS = {
  jwt: {
    mutate: ['src/tokens/jwt/**/*.ts', 'src/tokens/algorithms/*.ts'],
    tests: [
      'test/unit/tokens/jwt/*.test.ts',
      'test/unit/tokens/algorithms/*.test.ts',
      'test/unit/tokens/keys/{jwk-set,key-ring,keys-misuse}.test.ts',
      'test/unit/tokens/{id-token-verifier,old-tokens,prototype-pollution,tokens,verified-token,verifiers}.test.ts',
      'test/contract/rfc9068.test.ts',
    ],
  },
  tokens: {
    mutate: ['src/tokens/*.ts'],
    tests: [
      'test/unit/tokens/*.test.ts',
      'test/unit/tokens/jwt/{claims,issue-token,provider-claims}.test.ts',
      'test/unit/tokens/keys/{key-ring,keys-misuse}.test.ts',
      'test/unit/login/login-options.test.ts',
      'test/unit/events/tracing.test.ts',
    ],
  },
  guard: {
    mutate: ['src/guard/**/*.ts'],
    tests: [
      'test/unit/guard/{admission,bearer-header,close-when-ended,http2,require-bearer,require-bearer-options,token-source}.test.ts',
      'test/unit/events/mistakes.test.ts',
      'test/unit/tokens/{id-token-verifier,verifiers}.test.ts',
      'test/unit/features/sessions.test.ts',
      'test/contract/rfc6750.test.ts',
    ],
  },
  concurrency: {
    mutate: [
      'src/concurrency/*.ts',
      'src/http/{client-network,cross-site,header-lines,origin,host-options,request-limits,body,parser-refusal}.ts',
    ],
    tests: [
      'test/unit/{concurrency,http}/*.test.ts',
      'test/attacks/requests/other-sites.test.ts',
      'test/unit/passwords/hash-queue.test.ts',
      'test/unit/login/before-sign-in.test.ts',
      'test/unit/features/refresh/refresh.test.ts',
      'test/unit/sessions/memory-sessions.test.ts',
      'test/unit/events/warnings.test.ts',
      'test/unit/guard/**/{admission,close-when-ended,http2,require-bearer,require-bearer-options}.test.ts',
      'test/unit/auth/token-router.test.ts',
      'test/unit/auth/auth-errors.test.ts',
      'test/unit/features/sessions.test.ts',
      'test/unit/tokens/keys/{remote-keys,discover-keys}.test.ts',
    ],
  },
  limits: { mutate: ['src/limits/**/*.ts'], tests: ['test/unit/limits/*.test.ts'] },
  passwords: { mutate: ['src/passwords/**/*.ts'], tests: ['test/unit/passwords/**/*.test.ts'] },
  keys: {
    mutate: ['src/tokens/keys/**/*.ts'],
    tests: [
      'test/unit/tokens/keys/*.test.ts',
      'test/unit/tokens/prototype-pollution.test.ts',
      'test/unit/events/tracing.test.ts',
    ],
  },
  accounts: {
    mutate: ['src/accounts/*.ts'],
    tests: [
      'test/unit/accounts/*.test.ts',
      'test/unit/guard/{require-bearer,require-bearer-options}.test.ts',
      'test/unit/events/mistakes.test.ts',
    ],
  },
  factors: {
    mutate: ['src/factors/*.ts', 'src/passkeys/*.ts'],
    tests: [
      'test/unit/{factors,passkeys}/*.test.ts',
      'test/unit/features/{second-factor,api-keys,passkeys}.test.ts',
      'test/attacks/logins/{authenticator-app,passkeys}.test.ts',
      'test/attacks/tokens/api-keys.test.ts',
    ],
  },
  account: {
    mutate: ['src/account/*.ts', 'src/mail/*.ts'],
    tests: [
      'test/unit/{account,mail}/*.test.ts',
      'test/unit/features/{sign-up,password-reset,change-password,change-address,deletion,sign-in-by-mail}.test.ts',
    ],
  },
  login: {
    mutate: ['src/login/**/*.ts', 'src/passport/*.ts'],
    tests: [
      'test/unit/{auth,login,passport}/**/*.test.ts',
      'test/unit/{guard/require-bearer-options,features/refresh/refresh,sessions/refresh/refresh-options}.test.ts',
      'test/unit/auth/token-router.test.ts',
      'test/unit/events/{mistakes,tracing,warnings}.test.ts',
    ],
  },
  features: {
    mutate: ['src/features/*.ts', 'src/http/{declaration,endpoint}.ts'],
    tests: [
      'test/unit/features/**/*.test.ts',
      'test/unit/http/endpoint.test.ts',
      'test/unit/auth/token-router.test.ts',
      'test/unit/login/**/*.test.ts',
    ],
  },
  refusals: {
    mutate: ['src/errors/*.ts', 'src/events/*.ts', 'src/http/{responses,send-response,refuse,refresh-cookie-name}.ts'],
    tests: [
      'test/unit/{errors,events,http}/*.test.ts',
      'test/unit/login/**/{before-sign-in,login-for-host}.test.ts',
      'test/unit/passport/strategies.test.ts',
      'test/unit/tokens/old-tokens.test.ts',
      'test/unit/features/refresh/refresh.test.ts',
      'test/unit/guard/**/{admission,http2,require-bearer}.test.ts',
      'test/unit/auth/token-router.test.ts',
      'test/unit/auth/auth-errors.test.ts',
      'test/unit/features/sessions.test.ts',
    ],
  },
  options: {
    mutate: ['src/options/*.ts'],
    tests: [
      'test/unit/options/*.test.ts',
      'test/unit/tokens/{token-options,two-copies}.test.ts',
      'test/unit/guard/{require-bearer-options,require-bearer}.test.ts',
      'test/unit/auth/token-router.test.ts',
    ],
  },
  sessions: {
    mutate: ['src/sessions/*.ts'],
    tests: [
      'test/unit/{sessions,sessions/refresh,features/refresh}/*.test.ts',
      'test/unit/testing/{test-issuer-sessions,store-contract/session-store-contract}.test.ts',
      'test/unit/features/sessions.test.ts',
      'test/unit/guard/require-bearer-options.test.ts',
      'test/unit/features/tickets.test.ts',
      'test/unit/events/mistakes.test.ts',
    ],
  },
  refresh: {
    mutate: ['src/features/refresh/*.ts', 'src/sessions/refresh/*.ts'],
    tests: [
      'test/unit/{features/refresh,sessions/refresh}/*.test.ts',
      'test/attacks/{requests,logins}/refresh.test.ts',
      'test/attacks/logins/old-refresh-tokens.test.ts',
    ],
  },
  'client-server': { mutate: ['src/client/refresh-on-server.ts'], tests: ['test/client/server.test.ts'] },
  stores: {
    mutate: ['src/store/*.ts', 'src/stores/*.ts'],
    tests: [
      'test/unit/stores/{kysely-accounts,kysely-errors,kysely-sessions,sql-server}.test.ts',
      'test/unit/stores/redis-{codes,errors,sessions}.system.test.ts',
      'test/unit/auth/create-auth.test.ts',
      'test/unit/guard/require-bearer-options.test.ts',
    ],
  },
  auth: { mutate: ['src/auth/*.ts'], tests: ['test/unit/auth/*.test.ts'] },
  codes: { mutate: ['src/codes/*.ts'], tests: ['test/unit/codes/*.test.ts'] },
  openapi: { mutate: ['src/openapi/**/*.ts'], tests: ['test/contract/openapi/*.test.ts'] },
}
