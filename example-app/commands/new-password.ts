import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { OperatorError } from '../errors.js'

/** Minimum length of a password (OWASP ASVS 5, 6.2.1). */
const MIN_LENGTH = 8

/**
 * Returns the hash of a new password. The package's `hash` command asks for the password, so this process never sees it.
 * @throws OperatorError when the command fails
 */
export async function newPasswordHash(): Promise<string> {
  const args = [tokenEndpointCommand(), 'hash', '--min-length', String(MIN_LENGTH)]
  const child = spawn(process.execPath, args, { stdio: ['inherit', 'pipe', 'inherit'] })
  const [hash, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (status !== 0) throw new OperatorError('No account was changed.')
  return hash.trimEnd()
}

/** Returns the file that `npx express-token-endpoint` runs. */
function tokenEndpointCommand(): string {
  const manifest = createRequire(import.meta.url).resolve('express-token-endpoint/package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }
  return join(dirname(manifest), bin['express-token-endpoint'] ?? '')
}
