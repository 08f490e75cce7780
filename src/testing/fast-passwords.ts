import { createHash } from 'node:crypto'
import type { Hasher } from '../accounts/passwords/hashers.js'
import {
  createPasswords,
  type Passwords,
  type PasswordsOptions,
  queueAliases,
  queueSchema,
} from '../accounts/passwords/passwords.js'
import { readOptions } from '../shared/options.js'
import { testsOnly } from './tests-only.js'

/** The hasher is what `fastPasswords` is about; the rest is as for `createPasswords`. */
export type FastPasswordsOptions = Omit<PasswordsOptions, 'hashers'>

/** No other hasher accepts such a hash, so none that gets into a real database opens an account there. */
const MARK = '$test-only$'

/** One quick round, without a salt: what a password must never be kept by. */
export const testHasher: Required<Pick<Hasher, 'accepts' | 'verify' | 'hash'>> = {
  accepts: (stored) => stored.startsWith(MARK),
  verify: (password, stored) => stored === testHasher.hash(password),
  hash: (password) => MARK + createHash('sha256').update(password).digest('base64url'),
}

/**
 * Passwords for tests, checked in microseconds: what `createPasswords` makes, its gate and its equal work included, with a
 * hasher that protects nothing. A password has the same hash (`$test-only$…`) every time. Hashes of any other kind are
 * refused, as its own are by every other hasher.
 * @throws TypeError where `NODE_ENV` is `production`; naming the option that cannot be used
 */
export function fastPasswords(options?: FastPasswordsOptions): Required<Passwords> {
  testsOnly('fastPasswords')
  const read = readOptions<FastPasswordsOptions, typeof queueSchema>(
    'fastPasswords',
    options,
    queueSchema,
    queueAliases,
  )
  return createPasswords({ hashers: [testHasher], ...read })
}
