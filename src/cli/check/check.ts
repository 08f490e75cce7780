import { duration } from '../../shared/options.js'
import { suggestion } from '../../shared/suggest.js'
import { checked, command, PASSWORD_AS_ARGUMENT, type Values } from '../command.js'
import { EXIT, Failure, UsageError } from '../failure.js'
import { readPassword } from '../hash/password-input.js'
import type { Io } from '../io.js'
import { createProbe, type Probe } from './probe.js'
import { JWKS_PATH, readBase, readGuarded, readPath, TOKEN_PATH } from './read-target.js'
import { createRedact } from './redact.js'
import { json, lines } from './report.js'
import { ROWS } from './rows.js'
import { judge } from './run.js'
import { sender } from './send.js'
import type { Environment, Target } from './target.js'
import { Fault } from './verdict.js'

/** Of an answer, in bytes: much more than any of ours has. */
const ANSWER_LIMIT = 1_048_576

const IN_ENVIRONMENT = `${PASSWORD_AS_ARGUMENT}, or from CHECK_PASSWORD`

const options = {
  email: { type: 'string', value: 'EMAIL', help: 'of an account that may use the guarded paths' },
  guarded: {
    type: 'string',
    value: 'PATH',
    multiple: true,
    help: 'a path that GET finds behind requireBearer(); may be given again, or be a URL of another service',
  },
  path: { type: 'string', value: 'PATH', help: `of the token endpoint; ${TOKEN_PATH} unless set` },
  jwks: { type: 'string', value: 'PATH', help: `of the public keys, if they are shown; ${JWKS_PATH} unless set` },
  other: {
    type: 'string',
    value: 'URL',
    help: 'another environment, with the same paths: its tokens are not to be good here',
  },
  'other-email': { type: 'string', value: 'EMAIL', help: 'of an account there; the same unless set' },
  skip: {
    type: 'string',
    value: 'ROW',
    multiple: true,
    help: 'a row that is not to be judged, by its name; may be given again',
  },
  timeout: { type: 'string', value: 'TIME', help: 'for each answer, like 500ms or 10s; 10s unless set' },
  'plain-http': { type: 'boolean', help: 'lets password and token go to another machine unencrypted' },
  json: { type: 'boolean', help: 'prints one JSON object' },
} as const

export const check = command({
  name: 'check',
  summary: 'checks a running app against the specification, over HTTP',
  usage: ' URL --email EMAIL [--guarded PATH]... [options]',
  operand: 'URL',
  options,
  details: `URL is the base URL that paths stand below. The password is asked for, or read from standard input, or from

  CHECK_PASSWORD        of the account
  CHECK_OTHER_PASSWORD  of the one at --other; the same unless set
  CHECK_FOREIGN_TOKEN   a token of another environment, where that cannot be asked
  CHECK_EXPIRED_TOKEN   a token of this one that has expired: none can be made without the key

Each row has its source. It makes two failed logins at the account and one at an address that nobody has (the budget is
ten in 15 minutes unless set), some good ones, and GET requests to the guarded paths. Answers are not timed. No password
and no token is printed, or sent in a URL. A private certificate authority: NODE_EXTRA_CA_CERTS=FILE.

Exit status: ${EXIT.holds} nothing fails, ${EXIT.fails} something does, ${EXIT.usage} wrong usage.`,
  mistakes: {
    password: IN_ENVIRONMENT,
    p: IN_ENVIRONMENT,
    url: 'The URL stands for itself: check https://api.example.com',
    user: 'Did you mean "--email"?',
    username: 'Did you mean "--email"?',
    route: 'Did you mean "--guarded"?',
    insecure: 'For a private certificate authority set NODE_EXTRA_CA_CERTS; for plain http say --plain-http',
  },
  async run(values, url, io) {
    const settings = readSettings(values, url)
    const target = await withSecrets(settings, io)
    const { credentials, other, foreignToken = '', expiredToken = '' } = target
    const report = values.json ? json(io) : lines(io)
    const secrets = [credentials.password, other?.credentials.password ?? '', foreignToken, expiredToken]
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

/** Where nobody answers at all, every row would say so. */
async function mustAnswer({ answers }: Probe, present: (text: string) => string): Promise<void> {
  try {
    await answers.signedIn()
  } catch (error) {
    throw error instanceof Fault ? new Failure(`The token endpoint gives ${present(error.message)}`) : error
  }
}

type Place = Omit<Environment, 'credentials'> & { email: string }

interface Settings extends Place {
  base: URL
  jwks: URL
  other: Place | undefined
  skip: readonly string[]
  timeout: number
}

/** Everything but the secrets: what is wrong is told before anybody is asked for a password. */
function readSettings(values: Values<typeof options>, url: string | undefined): Settings {
  const plainHttp = values['plain-http'] ?? false
  const { email, skip = [], guarded = [], path = TOKEN_PATH, timeout = '10s' } = values
  if (url === undefined)
    throw new UsageError('check needs the base URL of the app: check https://api.example.com --email EMAIL')
  if (email === undefined) throw new UsageError('check needs an account to sign in with: --email EMAIL')
  const base = readBase('The URL', url, plainHttp)
  const place = (base: URL, email: string, paths: readonly string[]): Place => ({
    email,
    token: readPath('--path', base, path),
    guarded: readGuarded(base, paths, plainHttp),
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
    // What is named by a whole URL is of this environment.
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
  }
}
