import {
  type Account,
  type AccountStore,
  type Algorithm,
  createPasswords,
  createTokenIssuer,
  type Hasher,
  type KeyPairAlgorithm,
  type MemoryAccount,
  memoryAccounts,
  type PrivateTokenKey,
  type SecretAlgorithm,
  type SecretTokenKey,
  type TokenIssuer,
  type TokenIssuerOptions,
  type TokenSubject,
  type TokenVerifier,
} from 'express-token-endpoint'
import { PAIRS, ALGORITHMS as ROWS } from '../../src/tokens/algorithms/algorithms.js'
import { verifierOf } from '../../src/tokens/verifier.js'
import { ISSUER, SECRET } from './plain-js/token-forger.mjs'

export { decodePayload, forge, goodParts, ISSUER, SECRET } from './plain-js/token-forger.mjs'

export const ALGORITHMS = Object.keys(ROWS) as Algorithm[]

const cached = new Map<string, PrivateTokenKey>()

/** Returns a signing key for an algorithm. The same name always returns the same key. */
export function signingKey(alg: SecretAlgorithm, name?: string): SecretTokenKey
export function signingKey(alg: KeyPairAlgorithm, name?: string): PrivateTokenKey
export function signingKey(alg: Algorithm, name?: string): SecretTokenKey | PrivateTokenKey
export function signingKey(alg: Algorithm, name = 'one'): SecretTokenKey | PrivateTokenKey {
  const id = `${alg[0] === 'E' ? alg : alg.slice(0, 1)} ${name}`
  if (alg.startsWith('HS')) return { alg: alg as SecretAlgorithm, secret: `${name} ${SECRET}`, kid: `${alg}-${name}` }
  const known = cached.get(id)
  if (known) return { ...known, alg: alg as KeyPairAlgorithm }
  const { privateKey } = PAIRS[alg as KeyPairAlgorithm].generate(2048)
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const key: PrivateTokenKey = { alg: alg as KeyPairAlgorithm, privateKey: pem }
  cached.set(id, key)
  return key
}

/** Creates a clock that moves only when a test advances it. */
export function frozenClock(start = '2026-03-01T12:00:00.000Z') {
  let now = Date.parse(start)
  return Object.assign(() => now, {
    advance: (ms: number) => {
      now += ms
    },
    /** Now, in whole seconds. */
    seconds: () => Math.floor(now / 1000),
  })
}

export function makeIssuer(options: Partial<TokenIssuerOptions> = {}): TokenIssuer {
  return createTokenIssuer({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET, kid: 'k1' }, ...options })
}

/** Returns the verified token that a guard finds in the cache. Undefined when the token is not cached. */
export const cachedOf = (verifier: TokenVerifier, token = '') => verifierOf(verifier)?.cached(token)

/** Creates a hasher without cost that records the hashes that it checks. */
export function countingHasher(prefix = 'plain:') {
  const asked: string[] = []
  const hasher = {
    accepts: (hash) => hash.startsWith(prefix),
    verify: (password, hash) => {
      asked.push(hash)
      return hash === prefix + password
    },
    hash: (password) => prefix + password,
  } satisfies Hasher
  return Object.assign(hasher, { asked })
}

export const PASSWORD = 'correct horse battery staple'

export const ACCOUNTS = {
  alice: { id: 'acc-1', email: 'alice@example.com', passwordHash: `plain:${PASSWORD}`, scopes: ['reports:read'] },
  bob: { id: 'acc-2', email: 'bob@example.com', passwordHash: `plain:${PASSWORD}` },
  disabled: { id: 'acc-3', email: 'disabled@example.com', passwordHash: `plain:${PASSWORD}`, disabled: true },
  passwordless: { id: 'acc-4', email: 'passwordless@example.com', passwordHash: null },
} satisfies Record<string, MemoryAccount>

export function fastPasswords(hasher: Hasher & Required<Pick<Hasher, 'hash'>> = countingHasher()) {
  return createPasswords({ hashers: [hasher] })
}

export function makeStore(
  accounts: MemoryAccount[] = Object.values(ACCOUNTS),
): Required<Omit<AccountStore, 'normalizeEmail' | 'prepare'>> {
  return memoryAccounts(accounts)
}

export const issueNow = (tokens: TokenIssuer, subject: TokenSubject) => tokens.issueSync(subject)
export type { Account }
