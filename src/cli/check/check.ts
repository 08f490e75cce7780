import { duration } from '../../shared/options.js'
import { suggestion } from '../../shared/suggest.js'
import { checked, command, PASSWORD_AS_ARGUMENT, type Values } from '../command.js'
import { CommandError, EXIT, UsageError } from '../command-error.js'
import { readPassword } from '../hash/password-input.js'
import type { Io } from '../io.js'
import { createProbe, type Probe } from './probe/probe.js'
import { sender } from './probe/send.js'
import { JWKS_PATH, readBase, readGuarded, readGuardedList, readPath, TOKEN_PATH } from './read-target.js'
import { createRedact } from './redact.js'
import { json, lines } from './report.js'
import { ROWS } from './rows.js'
import { judge } from './run.js'
import type { Environment, Guarded, Target } from './target.js'
import { Fault } from './verdict.js'

/** The longest response that is read, in bytes. Responses of this package are much shorter. */
const ANSWER_LIMIT = 1_048_576

const IN_ENVIRONMENT = `${PASSWORD_AS_ARGUMENT}, or set CHECK_PASSWORD`

const options = {
  email: { type: 'string', value: 'EMAIL', help: 'address of an account that may use the guarded paths' },
  guarded: {
    type: 'string',
    value: 'PATH',
    multiple: true,
    help: 'a path or a URL that requireBearer() guards, for GET requests; repeatable',
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
  timeout: { type: 'string', value: 'TIME', help: 'limit for each response, like 500ms; default 10s' },
  'plain-http': { type: 'boolean', help: 'allows sending the password and tokens unencrypted' },
  json: { type: 'boolean', help: 'prints one JSON object' },
} as const

export const check = command({
  name: 'check',
  summary: 'checks a running app against the specification, over HTTP',
  usage: ' URL --email EMAIL [--guarded PATH]... [options]',
  operand: 'URL',
  options,
  details: `URL is the base URL of all paths. Enter the password at the prompt, send it to standard input, or set variables:

  CHECK_PASSWORD        password of the account
  CHECK_OTHER_PASSWORD  password of the account at --other; default: the same
  CHECK_FOREIGN_TOKEN   a token of another environment, instead of --other
  CHECK_EXPIRED_TOKEN   an expired token of this environment
  CHECK_OLD_TOKEN       a valid token whose sign-in is too old for --recent

Each row names its source. The command makes two failed logins for the account and one for an unknown address. The limit
for failed logins is ten in 15 minutes by default. It also makes some successful logins, and GET requests to the guarded
paths. It does not measure response times. It never prints a password or a token, or sends one in a URL.
For a private certificate authority set NODE_EXTRA_CA_CERTS=FILE.

Exit status: ${EXIT.holds} no row fails, ${EXIT.fails} a row fails, ${EXIT.usage} wrong usage.`,
  aliases: {
    password: IN_ENVIRONMENT,
    p: IN_ENVIRONMENT,
    url: 'Pass the URL without an option: check https://api.example.com',
    user: 'Did you mean "--email"?',
    username: 'Did you mean "--email"?',
    route: 'Did you mean "--guarded"?',
    insecure: 'For a private certificate authority set NODE_EXTRA_CA_CERTS. For plain http pass --plain-http',
  },
  async run(values, url, io) {
    const settings = readSettings(values, url)
    const target = await withSecrets(settings, io)
    const { credentials, other, foreignToken = '', expiredToken = '', oldToken = '' } = target
    const report = values.json ? json(io) : lines(io)
    const secrets = [credentials.password, other?.credentials.password ?? '', foreignToken, expiredToken, oldToken]
    const probe = createProbe(target, sender({ timeout: settings.timeout, sizeLimit: ANSWER_LIMIT }))
    const present = createRedact(() => [...secrets, ...probe.tokens])
    await mustAnswer(probe, present)
    const results = await judge(ROWS, probe, {
      skip: settings.skip,
      present,
      began: ({ title }, index) => report.began(title, index, ROWS.length),
      ended: report.ended,
    })
    report.done(settings.base.href, results)
    return results.some(({ verdict }) => verdict === 'fails') ? EXIT.fails : EXIT.holds
  },
})

/** Fails early when the token endpoint does not respond, because every row would report the same error. */
async function mustAnswer({ answers }: Probe, present: (text: string) => string): Promise<void> {
  try {
    await answers.signedIn()
  } catch (error) {
    throw error instanceof Fault ? new CommandError(`The token endpoint gives ${present(error.message)}`) : error
  }
}

type Place = Omit<Environment, 'credentials'> & { email: string }

interface Settings extends Place {
  base: URL
  jwks: URL
  recent: Guarded | undefined
  other: Place | undefined
  skip: readonly string[]
  timeout: number
}

/** Reads all settings except the secrets, so that errors appear before the prompt for a password. */
function readSettings(values: Values<typeof options>, url: string | undefined): Settings {
  const plainHttp = values['plain-http'] ?? false
  const { email, skip = [], guarded = [], path = TOKEN_PATH, timeout = '10s' } = values
  if (url === undefined)
    throw new UsageError('Pass the base URL of the app: check https://api.example.com --email EMAIL')
  if (email === undefined) throw new UsageError('Pass the e-mail address of an account: --email EMAIL')
  const base = readBase('The URL', url, plainHttp)
  const place = (base: URL, email: string, paths: readonly string[]): Place => ({
    email,
    token: readPath('--path', base, path),
    guarded: readGuardedList(base, paths, plainHttp),
  })
  const ids = ROWS.map(({ id }) => id)
  const strange = skip.find((id) => !ids.includes(id))
  if (strange !== undefined) throw new UsageError(`There is no row ${strange} to skip. ${suggestion(strange, ids)}`)
  if (values['other-email'] !== undefined && values.other === undefined) {
    throw new UsageError('--other-email is for an account at --other URL')
  }
  return {
    ...place(base, email, guarded),
    base,
    jwks: readPath('--jwks', base, values.jwks ?? JWKS_PATH),
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
    timeout: checked('--timeout', duration(1, 60_000), /^\d+$/.test(timeout) ? Number(timeout) : timeout),
  }
}

async function withSecrets({ email, other, ...rest }: Settings, { env, stdin, stderr }: Io): Promise<Target> {
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
