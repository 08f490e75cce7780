import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Guard } from './exhibit.js'
import { tokenOf } from './tokens.js'

const FOLDER = new URL('packages/', import.meta.url)

/** True when the vulnerable packages are not installed. */
export const NO_PACKAGES = !existsSync(new URL('node_modules/.package-lock.json', FOLDER))

if (NO_PACKAGES) {
  const message =
    'The vulnerable packages of the museum are missing. Install them: npm ci --prefix test/attacks/museum/packages --ignore-scripts'
  if (process.env['REQUIRE_SERVICES']) throw new Error(message)
  process.stdout.write(`Exhibits of real packages are skipped. ${message}\n`)
}

/** Loads a vulnerable version by its alias in `packages/package.json`. */
export const load = createRequire(new URL('package.json', FOLDER))

/** Makes a guard of a function that verifies a token: it throws or returns `false` for an invalid one. */
export function guardOf(verify: (token: string) => unknown): Guard {
  return async (request) => {
    try {
      return (await verify(tokenOf(request))) === false ? 'refused' : 'admitted'
    } catch {
      return 'refused'
    }
  }
}

/** Makes a guard of a host that tries several verifiers, one for each spelling of its key. */
export function guardOfAny(...verifiers: ((token: string) => unknown)[]): Guard {
  const guards = verifiers.map(guardOf)
  return async (request) => {
    for (const guard of guards) if ((await guard(request)) === 'admitted') return 'admitted'
    return 'refused'
  }
}
