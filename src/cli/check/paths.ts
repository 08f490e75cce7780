import { type Check, InvalidOption } from '../../options/read-options.js'
import { isExposed, withoutEndSlashes } from '../../options/urls.js'
import { readWebUrl } from '../../options/web-url.js'
import { checked } from '../command.js'
import { pathLike } from './wire/mapping-checks.js'

/** A guarded route, with its name from the command line. */
export interface Guarded {
  name: string
  url: URL
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
