import { duration, integer } from '../../options/checks.js'
import { suggestion } from '../../options/suggest.js'
import { checked, oneOf, type Values } from '../command.js'
import { UsageError } from '../command-error.js'
import { readPassword } from '../hash/password-input.js'
import type { Io } from '../io.js'
import { JWKS_PATH, readBase, readGuarded, readGuardedList, readPath, TOKEN_PATH } from './read-target.js'
import { FORMATS, type Format } from './report/formats.js'
import { ROWS } from './rows.js'
import type { Environment, Guarded, Target } from './target.js'
import { type Mapping, readMapping } from './wire/read-mapping.js'
import { OWN_WIRE, type Wire } from './wire/wire.js'

export const options = {
  email: { type: 'string', value: 'EMAIL', help: 'address of an account that may use the guarded paths' },
  guarded: {
    type: 'string',
    value: 'PATH',
    multiple: true,
    help: 'a path or a URL that needs a token, for GET requests; repeatable',
  },
  recent: { type: 'string', value: 'PATH', help: 'a guarded path that needs a recent sign-in (RFC 9470)' },
  path: { type: 'string', value: 'PATH', help: `path of the token endpoint; default ${TOKEN_PATH}` },
  jwks: { type: 'string', value: 'PATH', help: `path of the public keys; default ${JWKS_PATH}` },
  other: {
    type: 'string',
    value: 'URL',
    help: 'another environment with the same paths, whose tokens must not be valid here',
  },
  'other-email': { type: 'string', value: 'EMAIL', help: 'address of an account there; default: the same' },
  skip: {
    type: 'string',
    value: 'ROW',
    multiple: true,
    help: 'name of a row to skip; repeatable',
  },
  guesses: {
    type: 'string',
    value: 'N',
    help: 'sends up to N wrong passwords for one unknown address, until a limit holds',
  },
  mapping: { type: 'string', value: 'FILE', help: 'describes the wire format of another API, as JSON' },
  format: { type: 'string', value: 'FORMAT', help: `${Object.keys(FORMATS).join(', ')}; default text` },
  output: { type: 'string', value: 'FILE', help: 'writes the report to a file, and prints one line' },
  timeout: { type: 'string', value: 'TIME', help: 'limit for each response, like 500ms; default 10s' },
  'max-time': { type: 'string', value: 'TIME', help: 'limit for the whole check; default 5m' },
  'plain-http': { type: 'boolean', help: 'allows sending the password and tokens unencrypted' },
  json: { type: 'boolean', help: 'short for --format json' },
} as const

type Place = Omit<Environment, 'credentials'> & { email: string }

export interface Settings extends Place {
  base: URL
  wire: Wire
  jwks: URL | undefined
  recent: Guarded | undefined
  other: Place | undefined
  skip: readonly string[]
  timeout: number
  maxTime: number
  guesses: number | undefined
  format: Format
}

/** Reads all settings except the password and tokens, so that errors appear before the prompt for a password. */
export function readSettings(values: Values<typeof options>, url: string | undefined, env: Io['env']): Settings {
  const plainHttp = values['plain-http'] ?? false
  const { email, skip = [], timeout = '10s', 'max-time': maxTime = '5m' } = values
  if (url === undefined)
    throw new UsageError('Pass the base URL of the app: check https://api.example.com --email EMAIL')
  if (email === undefined) throw new UsageError('Pass the e-mail address of an account: --email EMAIL')
  const format = formatOf(values)
  const base = readBase('The URL', url, plainHttp)
  const mapping = mappingOf(values, env)
  const guarded = [...(mapping?.guarded ?? []), ...(values.guarded ?? [])]
  const place = (base: URL, email: string, paths: readonly string[]): Place => ({
    email,
    token: readPath('--path', base, mapping?.path ?? values.path ?? TOKEN_PATH),
    guarded: readGuardedList(base, paths, plainHttp),
  })
  const ids = ROWS.map(({ id }) => id)
  const strange = skip.find((id) => !ids.includes(id))
  if (strange !== undefined) throw new UsageError(`There is no row ${strange} to skip. ${suggestion(strange, ids)}`)
  if (values['other-email'] !== undefined && values.other === undefined) {
    throw new UsageError('--other-email is for an account at another environment. Pass --other URL too')
  }
  const jwks = values.jwks ?? (mapping ? mapping.jwks : JWKS_PATH)
  return {
    ...place(base, email, guarded),
    base,
    wire: mapping?.wire ?? OWN_WIRE,
    jwks: jwks === undefined ? undefined : readPath('--jwks', base, jwks),
    recent: values.recent === undefined ? undefined : readGuarded('--recent', base, values.recent, plainHttp),
    // A path given as a whole URL belongs to this environment.
    other:
      values.other === undefined
        ? undefined
        : place(
            readBase('--other', values.other, plainHttp),
            values['other-email'] ?? email,
            guarded.filter((name) => name.startsWith('/')),
          ),
    skip,
    timeout: readTime('--timeout', timeout, 60_000),
    maxTime: readTime('--max-time', maxTime, 3_600_000),
    guesses:
      values.guesses === undefined
        ? undefined
        : checked('--guesses', integer(2, 1000, 'a number'), Number(values.guesses)),
    format,
  }
}

/** Reads a time. A number without a unit means seconds. */
function readTime(option: string, value: string, most: number): number {
  return checked(option, duration(1, most), /^\d+$/.test(value) ? Number(value) : value)
}

function mappingOf({ mapping, path }: Values<typeof options>, env: Io['env']): Mapping | undefined {
  if (mapping === undefined) return undefined
  if (path !== undefined)
    throw new UsageError('--path is for apps that use this package. Set "login.path" in the mapping')
  return readMapping(mapping, env)
}

function formatOf({ format, json }: Values<typeof options>): Format {
  if (format === undefined) return json ? 'json' : 'text'
  if (json) throw new UsageError('Pass either --json or --format')
  return oneOf('format', Object.keys(FORMATS) as Format[], format)
}

/** Adds the secrets of the environment, or asks for the password. */
export async function withSecrets({ email, other, ...rest }: Settings, { env, stdin, stderr }: Io): Promise<Target> {
  const password = env['CHECK_PASSWORD'] || (await readPassword(stdin, stderr))
  const there = env['CHECK_OTHER_PASSWORD'] || password
  return {
    ...rest,
    credentials: { email, password },
    other: other && { ...other, credentials: { email: other.email, password: there } },
    foreignToken: env['CHECK_FOREIGN_TOKEN'] || undefined,
    expiredToken: env['CHECK_EXPIRED_TOKEN'] || undefined,
    oldToken: env['CHECK_OLD_TOKEN'] || undefined,
  }
}
