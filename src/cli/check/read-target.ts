import { type Check, InvalidOption } from '../../options/read-options.js'
import { isExposed, withoutEndSlashes } from '../../options/urls.js'
import { readWebUrl } from '../../options/web-url.js'
import { checked } from '../command.js'
import { UsageError } from '../command-error.js'
import { pathLike } from './path-check.js'
import type { Guarded } from './target.js'

/** The path that the specification names. */
export const TOKEN_PATH = '/api/v2013/authentication/token'
export const JWKS_PATH = '/.well-known/jwks.json'

/**
 * Reads the base URL of an environment.
 * @throws UsageError with the likely mistake
 */
export function readBase(what: string, value: unknown, plainHttp: boolean): URL {
  return checked(what, baseUrl(plainHttp), value)
}

const baseUrl =
  (plainHttp: boolean): Check<URL> =>
  (value) => {
    const wanted = 'an absolute URL without query, like https://api.example.com'
    const url = readWebUrl(value, wanted)
    if (url.username || url.password) throw new InvalidOption(wanted, 'Remove the user name and the password')
    if (/[?#]/.test(url.href)) throw new InvalidOption(wanted, 'Remove the "?" or "#" and the text after it')
    return confidential(url, plainHttp)
  }

function confidential(url: URL, plainHttp: boolean): URL {
  if (!isExposed(url) || plainHttp) return url
  throw new InvalidOption(
    'an https: URL, or one of this machine',
    'Others on the network can read the password and the token over http. To allow http, pass --plain-http',
  )
}

const path = pathLike('/api/v2013/statements')

/** Reads a path below the base URL. */
export function readPath(what: string, base: URL, value: string): URL {
  return new URL(base.origin + withoutEndSlashes(base.pathname) + checked(what, path, value))
}

/** Reads the paths of `--guarded`. */
export function readGuardedList(base: URL, values: readonly string[], plainHttp: boolean): Guarded[] {
  if (new Set(values).size < values.length) throw new UsageError('--guarded names one path twice')
  return values.map((value) => readGuarded('--guarded', base, value, plainHttp))
}

/** Reads a guarded path. A URL may name another service that accepts the same tokens. */
export function readGuarded(what: string, base: URL, name: string, plainHttp: boolean): Guarded {
  const isUrl = /^\w+:/.test(name)
  return { name, url: isUrl ? checked(what, guardedUrl(plainHttp), name) : readPath(what, base, name) }
}

const guardedUrl =
  (plainHttp: boolean): Check<URL> =>
  (value) => {
    const wanted = 'a path, or an absolute URL without user name, password and fragment'
    const url = readWebUrl(value, wanted)
    // The URL is printed in the report, and Node would send a user name in an Authorization header.
    if (url.username || url.password || url.hash) throw new InvalidOption(wanted)
    return confidential(url, plainHttp)
  }
