import { duration, integer } from '../../options/checks.js'
import type { Check } from '../../options/read-options.js'
import { suggestion } from '../../options/suggest.js'
import { number, oneOf, type Values } from '../command.js'
import { UsageError } from '../command-error.js'
import { readPassword } from '../hash/password-input.js'
import type { Io } from '../io.js'
import { JWKS_PATH, readBase, readGuarded, readGuardedList, readPath, TOKEN_PATH } from './read-target.js'
import { FORMATS, type Format } from './report/formats.js'
import { ROWS } from './rows.js'
import type { Environment, Guarded, Target } from './target.js'
import { type Mapping, readMapping } from './wire/read-mapping.js'
import { OWN_WIRE, type Wire } from './wire/wire.js'

const FORMAT_NAMES = Object.keys(FORMATS) as Format[]

const knownRows: Check<readonly string[]> = (value) => {
  const given = (value ?? []) as string[]
  const ids = ROWS.map(({ id }) => id)
  const strange = given.find((id) => !ids.includes(id))
  if (strange !== undefined) throw new UsageError(`There is no row ${strange} to skip. ${suggestion(strange, ids)}`)
  return given
}

/** Creates a check for a time. A number without a unit means seconds. */
function time(usual: string, most: number): Check<number> {
  const check = duration(1, most)
  return (value = usual) => check(/^\d+$/.test(String(value)) ? Number(value) : value)
}

export const options = {
  email: { value: 'EMAIL', help: 'address of an account that may use the guarded paths' },
  guarded: {
    value: 'PATH',
    multiple: true,
    help: 'a path or a URL that needs a token, for GET requests; repeatable',
  },
  recent: { value: 'PATH', help: 'a guarded path that needs a recent sign-in (RFC 9470)' },
  path: { value: 'PATH', help: `path of the token endpoint; default ${TOKEN_PATH}` },
  jwks: { value: 'PATH', help: `path of the public keys; default ${JWKS_PATH}` },
  other: {
    value: 'URL',
    help: 'another environment with the same paths, whose tokens must not be valid here',
  },
  'other-email': { value: 'EMAIL', help: 'address of an account there; default: the same' },
  skip: { value: 'ROW', multiple: true, help: 'name of a row to skip; repeatable', check: knownRows },
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
  const { email, skip, timeout, 'max-time': maxTime, guesses } = values
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
    timeout,
    maxTime,
    guesses,
    format,
  }
}

function mappingOf({ mapping, path }: Values<typeof options>, env: Io['env']): Mapping | undefined {
  if (mapping === undefined) return undefined
  if (path !== undefined)
    throw new UsageError('--path is for apps that use this package. Set "login.path" in the mapping')
  return readMapping(mapping, env)
}

function formatOf({ format, json }: Values<typeof options>): Format {
  if (format && json) throw new UsageError('Pass either --json or --format')
  return format ?? (json ? 'json' : 'text')
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
