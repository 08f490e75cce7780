import { createHash } from 'node:crypto'
import { readOptions } from '../options/read-options.js'
import type { Hasher } from '../passwords/hashers/hasher.js'
import { createPasswords, type Passwords } from '../passwords/passwords.js'
import { commonSchema, type PasswordsOptions } from '../passwords/passwords-options.js'
import { testsOnly } from './tests-only.js'

/** The options of `fastPasswords`: those of `createPasswords` without its hashers. */
export type FastPasswordsOptions = Omit<PasswordsOptions, 'hashers' | 'unknown'>

/** The prefix of test hashes. No other hasher accepts the prefix, so a test hash in a real database opens no account. */
const MARK = '$test-only$'

/** Hashes with one quick round and without a salt. Never store a real password this way. */
export const testHasher: Required<Pick<Hasher, 'accepts' | 'verify' | 'hash'>> = {
  accepts: (stored) => stored.startsWith(MARK),
  verify: (password, stored) => stored === testHasher.hash(password),
  hash(password) {
    testsOnly('fastPasswords')
    return MARK + createHash('sha256').update(password).digest('base64url')
  },
}

/**
 * Creates passwords for tests. A check takes microseconds, because the hash protects nothing. The queue and the equal work for
 * unknown accounts are those of `createPasswords`. A password always has the same hash (`$test-only$…`). Other hashers refuse this
 * hash, and this hasher refuses every other hash.
 * @throws TypeError when `NODE_ENV` is `production`, also at each check later; TypeError that names an invalid option
 */
export function fastPasswords(options?: FastPasswordsOptions): Required<Passwords> {
  testsOnly('fastPasswords')
  const read = readOptions<FastPasswordsOptions, typeof commonSchema>('fastPasswords', options, commonSchema)
  return createPasswords({ hashers: [testHasher], ...read })
}
