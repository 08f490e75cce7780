import { endpointsAt } from '../../features/features.js'
import { KEYS_PATH } from '../../features/keys.js'
import { SESSIONS_PATH } from '../../features/sessions.js'
import { TOKEN_PATH } from '../../features/sign-in.js'
import type { Declaration } from '../../http/declaration.js'
import { methodsOf, pathsBelow } from '../../http/endpoint.js'
import { pageOrigin } from '../../login/credentials-options.js'
import { duration } from '../../options/checks.js'
import { type Check, checkThat, InvalidOption, optional } from '../../options/read-options.js'
import { isExposed, withoutEndSlashes } from '../../options/urls.js'
import { readWebUrl } from '../../options/web-url.js'
import { checked, type Values } from '../command.js'
import { UsageError } from '../command-error.js'
import type { Io } from '../io.js'

/** An endpoint of this package, with its method and its path as the name. Or a guarded path of the app. */
export interface CheckedEndpoint {
  name: string
  url: URL
  declared: Pick<Declaration, 'id' | 'method' | 'guard' | 'body' | 'responses' | 'origin'>
  /** The methods of its path. Empty for a guarded path of the app, which may have any. */
  methods: readonly string[]
}

/** Returns the endpoints of all features. */
function endpointsBelow(base: URL, token: URL, keys: URL): readonly CheckedEndpoint[] {
  const paths = {
    token: token.pathname,
    keys: keys.pathname,
    sessions: withoutEndSlashes(base.pathname) + SESSIONS_PATH,
    // A check would mail to people, and delete an account. So these features are off.
    account: '',
  }
  const all = endpointsAt(paths, { signIn: true, refresh: true, keys: true, sessions: true }).map(
    ({ at, endpoint }) => ({
      declared: endpoint,
      url: new URL(pathsBelow(at, endpoint.path)[0], base),
    }),
  )
  return all.map(({ declared, url }) => ({
    name: `${declared.method} ${url.pathname}`,
    url,
    declared,
    methods: methodsOf(all.filter((other) => other.url.href === url.href).map((other) => other.declared)),
  }))
}

/** Creates a check for a time. A number without a unit means seconds. */
function time(usual: string, most: number): Check<number> {
  const check = duration(1, most)
  return (value = usual) => check(/^\d+$/.test(String(value)) ? Number(value) : value)
}

export const options = {
  email: { value: 'EMAIL', help: 'email address of an account that may use the guarded paths' },
  guarded: { value: 'PATH', multiple: true, help: 'path or URL that needs a token, for GET requests; repeatable' },
  recent: { value: 'PATH', help: 'guarded path that needs a recent sign-in (RFC 9470)' },
  path: { value: 'PATH', help: `path of the token endpoint; default ${TOKEN_PATH}` },
  jwks: { value: 'PATH', help: `path of the public keys; default ${KEYS_PATH}` },
  origin: { value: 'ORIGIN', help: 'one of the allowedOrigins of the app, like https://app.example.com' },
  other: { value: 'URL', help: 'different environment with the same paths; its tokens must not be valid at URL' },
  'other-email': { value: 'EMAIL', help: 'email address of an account at --other; default: same as --email' },
  skip: { value: 'ROW', multiple: true, help: 'name of a row to skip; repeatable' },
  timeout: { value: 'TIME', help: 'time limit for each response, like 500ms; default 10s', check: time('10s', 60_000) },
  'max-time': { value: 'TIME', help: 'time limit for the whole check; default 5m', check: time('5m', 3_600_000) },
  'plain-http': { help: 'allow sending the password and tokens unencrypted' },
  json: { help: 'print the report as JSON' },
} as const

/** The app to check. */
export type Target = ReturnType<ReturnType<typeof readSettings>['targetWith']>

/**
 * Reads all settings except the password, so that errors appear before the prompt for it.
 * @throws UsageError with the likely mistake
 */
export function readSettings(values: Values<typeof options>, url: string | undefined, env: Io['env']) {
  const { email, other, timeout, 'max-time': maxTime, 'plain-http': plainHttp = false } = values
  const paths = values.guarded ?? []
  if (url === undefined)
    throw new UsageError('Pass the base URL of the app: check https://api.example.com --email EMAIL')
  if (email === undefined) throw new UsageError('Pass the email address of an account: --email EMAIL')
  if (values['other-email'] !== undefined && other === undefined)
    throw new UsageError('--other-email is the address of an account at --other. Pass --other URL too')
  const base = checked('The URL', baseUrl(plainHttp), url)
  if (new Set(paths).size < paths.length)
    throw new UsageError('--guarded has the same path twice. Pass every path once')

  /** Reads an environment. Returns it once there is a password. */
  function environment(base: URL, email: string, paths: readonly string[]) {
    const token = readPath('--path', base, values.path ?? TOKEN_PATH)
    const guarded = paths.map((name) => readGuarded('--guarded', base, name, plainHttp))
    return (password: string) => ({ token, guarded, credentials: { email, password } })
  }
  const here = environment(base, email, paths)
  const otherBase = checked('--other', optional(baseUrl(plainHttp)), other)
  // A path given as a whole URL belongs to this environment.
  const pathsThere = paths.filter((name) => name.startsWith('/'))
  const there = otherBase && environment(otherBase, values['other-email'] ?? email, pathsThere)
  const jwks = readPath('--jwks', base, values.jwks ?? KEYS_PATH)
  const about = {
    origin: checked('--origin', optional(pageOrigin), values.origin),
    endpoints: endpointsBelow(base, readPath('--path', base, values.path ?? TOKEN_PATH), jwks),
    recent: values.recent === undefined ? undefined : readGuarded('--recent', base, values.recent, plainHttp),
    foreignToken: env['CHECK_FOREIGN_TOKEN'] || undefined,
    expiredToken: env['CHECK_EXPIRED_TOKEN'] || undefined,
    oldToken: env['CHECK_OLD_TOKEN'] || undefined,
  }
  return {
    base,
    timeout,
    maxTime,
    targetWith: (password: string) => ({
      ...about,
      ...here(password),
      other: there?.(env['CHECK_OTHER_PASSWORD'] || password),
    }),
  }
}

/** Creates a check for the base URL of an environment. */
const baseUrl =
  (plainHttp: boolean): Check<URL> =>
  (value) => {
    const wanted = 'an absolute URL without a query, like https://api.example.com'
    const url = readWebUrl(value, wanted)
    if (url.username || url.password) throw new InvalidOption(wanted, 'Remove the user name and the password')
    if (/[?#]/.test(url.href)) throw new InvalidOption(wanted, 'Remove the "?" or "#" and the text after it')
    return mustBeSafe(url, plainHttp)
  }

const guardedUrl =
  (plainHttp: boolean): Check<URL> =>
  (value) => {
    const wanted = 'a path, or an absolute URL without a user name, password or fragment'
    const url = readWebUrl(value, wanted)
    // The URL is printed in the report, and Node would send a user name in an Authorization header.
    if (url.username || url.password || url.hash) throw new InvalidOption(wanted)
    return mustBeSafe(url, plainHttp)
  }

function mustBeSafe(url: URL, plainHttp: boolean): URL {
  if (plainHttp || !isExposed(url)) return url
  throw new InvalidOption(
    'an https: URL, or a URL on this machine',
    'Over http, others on the network can read the password and the token. To allow http, pass --plain-http',
  )
}

const PATH = checkThat(
  'a path below the base URL, like /api/v2013/statements',
  (value): value is string => typeof value === 'string' && /^\/[^\s#\\]*$/.test(value),
  (value) => (typeof value === 'string' && !value.startsWith('/') ? 'Begin the path with a slash' : ''),
)

/** Reads a path below the base URL. */
const readPath = (what: string, base: URL, value: string): URL =>
  new URL(base.origin + withoutEndSlashes(base.pathname) + checked(what, PATH, value))

/** Reads a guarded path. A URL may name another service that accepts the same tokens. */
const readGuarded = (what: string, base: URL, name: string, plainHttp: boolean): CheckedEndpoint => ({
  name,
  declared: { id: name, method: 'GET', guard: { name: 'user' }, responses: {} },
  methods: [],
  url: /^\w+:/.test(name) ? checked(what, guardedUrl(plainHttp), name) : readPath(what, base, name),
})
