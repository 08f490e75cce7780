import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { readPrivate, writeOnce } from './private-files.js'

/**
 * Returns the secrets of the refresh tokens: one in each line of a file in the data folder. The first one signs, and all of them verify.
 * Creates the file at the first start.
 * @throws OperatorError when others can read the file, or a secret is too short
 */
export function refreshSecrets(dataDir: string): string[] {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'refresh-secret')
  if (!existsSync(file)) writeOnce(file, `${randomBytes(32).toString('base64url')}\n`)
  const secrets = readPrivate(file).text.trim().split(/\s+/)
  if (secrets.every((secret) => secret.length >= 32)) return secrets
  throw new OperatorError(
    `${file}: a secret needs at least 32 characters. Delete the file to get a new one; all users must then sign in again.`,
  )
}
