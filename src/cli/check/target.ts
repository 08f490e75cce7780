import { type Check, InvalidOption } from '../../options/read-options.js'
import { isExposed, withoutEndSlashes } from '../../options/urls.js'
import { readWebUrl } from '../../options/web-url.js'
import { checked } from '../command.js'
import { pathLike } from './wire/mapping-checks.js'
import type { Wire } from './wire/wire.js'

/** A guarded route, with its name from the command line. */
export interface Guarded {
  name: string
  url: URL
}

/** One environment of the service: its token endpoint, the routes that accept its tokens, and an account. */
export interface Environment {
  token: URL
  guarded: readonly Guarded[]
  credentials: { user: string; password: string }
}

/** The app to check. */
export interface Target extends Environment {
  wire: Wire
  /** Undefined: the mapping names no path. */
  jwks: URL | undefined
  /** Another environment. Neither environment may accept the other's tokens. */
  other: Environment | undefined
  /** A token of another environment, instead of `other`. */
  foreignToken: string | undefined
  /** A route that needs a recent sign-in. */
  recent: Guarded | undefined
  /** A valid token of this environment, from a sign-in that is too old for `recent`. */
  oldToken: string | undefined
  /** A token of this environment that has expired. */
  expiredToken: string | undefined
  /** The number of wrong passwords after which a limit must hold. */
  guesses: number | undefined
}

const PATH = pathLike('/api/v2013/statements')

function mustBeSafe(url: URL, plainHttp: boolean): URL {
  if (plainHttp || !isExposed(url)) return url
  throw new InvalidOption(
    'an https: URL, or one of this machine',
    'Others on the network can read the password and the token over http. To allow http, pass --plain-http',
  )
}

/** Creates a check for the base URL of an environment. */
export const baseUrl =
  (plainHttp: boolean): Check<URL> =>
  (value) => {
    const wanted = 'an absolute URL without query, like https://api.example.com'
    const url = readWebUrl(value, wanted)
    if (url.username || url.password) throw new InvalidOption(wanted, 'Remove the user name and the password')
    if (/[?#]/.test(url.href)) throw new InvalidOption(wanted, 'Remove the "?" or "#" and the text after it')
    return mustBeSafe(url, plainHttp)
  }

const guardedUrl =
  (plainHttp: boolean): Check<URL> =>
  (value) => {
    const wanted = 'a path, or an absolute URL without user name, password and fragment'
    const url = readWebUrl(value, wanted)
    // The URL is printed in the report, and Node would send a user name in an Authorization header.
    if (url.username || url.password || url.hash) throw new InvalidOption(wanted)
    return mustBeSafe(url, plainHttp)
  }

/** Reads a path below the base URL. */
export const readPath = (what: string, base: URL, value: string): URL =>
  new URL(base.origin + withoutEndSlashes(base.pathname) + checked(what, PATH, value))

/** Reads a guarded path. A URL may name another service that accepts the same tokens. */
export const readGuarded = (what: string, base: URL, name: string, plainHttp: boolean): Guarded => ({
  name,
  url: /^\w+:/.test(name) ? checked(what, guardedUrl(plainHttp), name) : readPath(what, base, name),
})
