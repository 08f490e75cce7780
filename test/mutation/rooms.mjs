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
      'test/unit/tokens/{tokens,verified-token}.test.ts',
      'test/contract/rfc9068.test.ts',
    ],
  },
  tokens: {
    mutate: ['src/tokens/*.ts'],
    tests: [
      'test/unit/tokens/*.test.ts',
      'test/unit/tokens/jwt/{claims,issue-token,provider-claims}.test.ts',
      'test/unit/tokens/keys/{key-ring,keys-misuse}.test.ts',
      'test/unit/shared/tracing.test.ts',
    ],
  },
  guard: {
    mutate: ['src/http/guard/**/*.ts'],
    tests: [
      'test/unit/http/guard/*.test.ts',
      'test/unit/http/{session-router,protected-resource-router}.test.ts',
      'test/contract/rfc6750.test.ts',
    ],
  },
  queues: {
    mutate: ['src/shared/queues/**/*.ts', 'src/http/shared/**/*.ts'],
    tests: [
      'test/unit/shared/queues/*.test.ts',
      'test/unit/http/shared/*.test.ts',
      'test/unit/http/guard/{admission,close-when-ended,http2,options,require-bearer}.test.ts',
      'test/unit/http/token-endpoint/token-router.test.ts',
      'test/unit/http/session-router.test.ts',
    ],
  },
  throttle: { mutate: ['src/accounts/throttle/**/*.ts'], tests: ['test/unit/accounts/throttle/*.test.ts'] },
  passwords: { mutate: ['src/accounts/passwords/**/*.ts'], tests: ['test/unit/accounts/passwords/**/*.test.ts'] },
  keys: {
    mutate: ['src/tokens/keys/**/*.ts'],
    tests: [
      'test/unit/tokens/keys/*.test.ts',
      'test/unit/tokens/prototype-pollution.test.ts',
      'test/unit/shared/tracing.test.ts',
    ],
  },
  accounts: { mutate: ['src/accounts/*.ts'], tests: ['test/unit/accounts/*.test.ts'] },
  endpoint: {
    mutate: ['src/http/*.ts', 'src/http/token-endpoint/**/*.ts', 'src/http/strategies/**/*.ts'],
    tests: [
      'test/unit/http/*.test.ts',
      'test/unit/http/{token-endpoint,strategies}/*.test.ts',
      'test/unit/shared/{tracing,warnings}.test.ts',
    ],
  },
  shared: {
    mutate: ['src/shared/{,host/,options/}*.ts'],
    tests: [
      'test/unit/shared/{*,host/*}.test.ts',
      'test/unit/tokens/{token-options,two-copies}.test.ts',
      'test/unit/tokens/keys/{remote-keys,discover-keys}.test.ts',
      'test/unit/http/guard/{options,require-bearer}.test.ts',
      'test/unit/http/token-endpoint/token-router.test.ts',
    ],
  },
  sessions: {
    mutate: ['src/sessions/*.ts'],
    tests: ['test/unit/sessions/*.test.ts', 'test/unit/testing/store-contract/session-store-contract.test.ts'],
  },
  openapi: { mutate: ['src/openapi/**/*.ts'], tests: ['test/contract/openapi/*.test.ts'] },
}
