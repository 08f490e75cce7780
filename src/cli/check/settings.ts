import { duration, integer } from '../../options/checks.js'
import { type Check, optional } from '../../options/read-options.js'
import { checked, number, oneOf, type Values } from '../command.js'
import { UsageError } from '../command-error.js'
import type { Io } from '../io.js'
import { baseUrl, readGuarded, readPath } from './paths.js'
import { FORMATS, type Format } from './report/formats.js'
import { type Mapping, readMapping } from './wire/read-mapping.js'
import { OWN } from './wire/wire.js'

const FORMAT_NAMES = Object.keys(FORMATS) as Format[]

/** Creates a check for a time. A number without a unit means seconds. */
function time(usual: string, most: number): Check<number> {
  const check = duration(1, most)
  return (value = usual) => check(/^\d+$/.test(String(value)) ? Number(value) : value)
}

export const options = {
  email: { value: 'EMAIL', help: 'address of an account that may use the guarded paths' },
  guarded: { value: 'PATH', multiple: true, help: 'a path or a URL that needs a token, for GET requests; repeatable' },
  recent: { value: 'PATH', help: 'a guarded path that needs a recent sign-in (RFC 9470)' },
  path: { value: 'PATH', help: `path of the token endpoint; default ${OWN.wire.login.path}` },
  jwks: { value: 'PATH', help: `path of the public keys; default ${OWN.jwks}` },
  other: { value: 'URL', help: 'another environment with the same paths, whose tokens must not be valid here' },
  'other-email': { value: 'EMAIL', help: 'address of an account there; default: the same' },
  skip: { value: 'ROW', multiple: true, help: 'name of a row to skip; repeatable' },
  guesses: {
    value: 'N',
    help: 'sends up to N wrong passwords for one unknown address, until a limit holds',
    check: number(integer(2, 1000, 'a number'), undefined),
  },
  mapping: { value: 'FILE', help: 'describes the wire format of another API, as JSON' },
  format: { value: 'FORMAT', help: `${FORMAT_NAMES.join(', ')}; default text`, check: oneOf(FORMAT_NAMES) },
  output: { value: 'FILE', help: 'writes the report to a file, and prints one line' },
  timeout: { value: 'TIME', help: 'limit for each response, like 500ms; default 10s', check: time('10s', 60_000) },
  'max-time': { value: 'TIME', help: 'limit for the whole check; default 5m', check: time('5m', 3_600_000) },
  'plain-http': { help: 'allows sending the password and tokens unencrypted' },
  json: { help: 'short for --format json' },
} as const

/**
 * Reads all settings except the password, so that errors appear before the prompt for it.
 * @throws UsageError with the likely mistake
 */
export function readSettings(values: Values<typeof options>, url: string | undefined, env: Io['env']) {
  const { email, other, timeout, 'max-time': maxTime, format, json, 'plain-http': plainHttp = false } = values
  if (url === undefined)
    throw new UsageError('Pass the base URL of the app: check https://api.example.com --email EMAIL')
  if (email === undefined) throw new UsageError('Pass the e-mail address of an account: --email EMAIL')
  if (format && json) throw new UsageError('Pass either --json or --format')
  if (values['other-email'] !== undefined && other === undefined)
    throw new UsageError('--other-email is for an account at another environment. Pass --other URL too')
  const base = checked('The URL', baseUrl(plainHttp), url)
  const { wire, guarded, jwks } = mappingOf(values, env)
  const paths = [...guarded, ...(values.guarded ?? [])]
  if (new Set(paths).size < paths.length) throw new UsageError('--guarded names one path twice')

  /** Reads an environment. Returns it once there is a password. */
  function environment(base: URL, user: string, paths: readonly string[]) {
    const token = readPath('--path', base, values.path ?? wire.login.path)
    const guarded = paths.map((name) => readGuarded('--guarded', base, name, plainHttp))
    return (password: string) => ({ token, guarded, credentials: { user, password } })
  }
  const here = environment(base, email, paths)
  const otherBase = checked('--other', optional(baseUrl(plainHttp)), other)
  // A path given as a whole URL belongs to this environment.
  const pathsThere = paths.filter((name) => name.startsWith('/'))
  const there = otherBase && environment(otherBase, values['other-email'] ?? email, pathsThere)
  const jwksPath = values.jwks ?? jwks
  const about = {
    wire,
    jwks: jwksPath === undefined ? undefined : readPath('--jwks', base, jwksPath),
    recent: values.recent === undefined ? undefined : readGuarded('--recent', base, values.recent, plainHttp),
    guesses: values.guesses,
    foreignToken: env['CHECK_FOREIGN_TOKEN'] || undefined,
    expiredToken: env['CHECK_EXPIRED_TOKEN'] || undefined,
    oldToken: env['CHECK_OLD_TOKEN'] || undefined,
  }
  return {
    base,
    timeout,
    maxTime,
    format: format ?? (json ? 'json' : 'text'),
    targetWith: (password: string) => ({
      ...about,
      ...here(password),
      other: there?.(env['CHECK_OTHER_PASSWORD'] || password),
    }),
  }
}

/** The app to check. */
export type Target = ReturnType<ReturnType<typeof readSettings>['targetWith']>

function mappingOf({ mapping, path }: Values<typeof options>, env: Io['env']): Mapping {
  if (mapping === undefined) return OWN
  if (path !== undefined)
    throw new UsageError('--path is for apps that use this package. Set "login.path" in the mapping')
  return readMapping(mapping, env)
}
