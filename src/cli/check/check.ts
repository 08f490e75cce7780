import { suggestion } from '../../options/suggest.js'
import { command, PASSWORD_AS_ARGUMENT } from '../command.js'
import { CommandError, EXIT, UsageError } from '../command-error.js'
import { readPassword } from '../hash/password-input.js'
import { type CheckedApp, createApp, readJwt } from './app.js'
import { createReport } from './report.js'
import { judge } from './row.js'
import { ROWS } from './rows.js'
import { sender } from './send.js'
import { options, readSettings } from './settings.js'
import { codeOf, Fault, OutOfTime, type Result } from './verdict.js'

/** The longest response that is read, in bytes. Responses of this package are much shorter. */
const SIZE_LIMIT = 1_048_576

const IN_ENVIRONMENT = `${PASSWORD_AS_ARGUMENT}, or set CHECK_PASSWORD`

export const check = command({
  name: 'check',
  summary: 'check a running app against the specification, over HTTP',
  usage: ' URL --email EMAIL [--guarded PATH]... [options]',
  operand: 'URL',
  options,
  details: `URL is the base URL of all paths. Type the password at the prompt, send it to standard input, or set variables:

  CHECK_PASSWORD        password of the account
  CHECK_OTHER_PASSWORD  password of the account at --other; default: the same
  CHECK_FOREIGN_TOKEN   a token from a different environment, instead of --other
  CHECK_EXPIRED_TOKEN   an expired token from this environment
  CHECK_OLD_TOKEN       a valid token whose sign-in is too old for --recent

Use an account that nobody else uses. Each run makes two failed logins to this account and one to an unknown address. The
default limit is ten failed logins in 15 minutes. Each run also makes some successful logins and sends GET requests to your
guarded paths. The report never contains the password, tokens, or text from your app, except header names. For a private
certificate authority, set NODE_EXTRA_CA_CERTS=FILE.

Exit status: ${EXIT.holds} if no row fails, ${EXIT.fails} if a row fails, ${EXIT.usage} for incorrect usage.`,
  aliases: {
    password: IN_ENVIRONMENT,
    p: IN_ENVIRONMENT,
    url: 'Pass the URL without an option: check https://api.example.com',
    user: 'email',
    username: 'email',
    route: 'guarded',
    format: 'For JSON, pass --json',
    output: 'Redirect standard output: check https://api.example.com --email EMAIL --json > report.json',
    insecure: 'For a private certificate authority, set NODE_EXTRA_CA_CERTS. For http, pass --plain-http',
  },
  async run(values, url, io) {
    const { base, timeout, maxTime, targetWith } = readSettings(values, url, io.env)
    const skip = knownRows(values.skip)
    const target = targetWith(io.env['CHECK_PASSWORD'] || (await readPassword(io.stdin, io.stderr)))
    const report = createReport(values.json ?? false, io)
    const app = createApp(target, sender({ timeout, sizeLimit: SIZE_LIMIT, endsAt: performance.now() + maxTime }))
    await mustRespond(app)
    await checkGivenTokens(app)
    const results: Result[] = []
    // In order, because rows use responses that earlier rows requested.
    for (const [index, row] of ROWS.entries()) {
      report.began(row.title, index, ROWS.length)
      const result = await judge(row, app, skip)
      report.ended(result)
      results.push(result)
    }
    report.done(base.href, results)
    return results.some(({ verdict }) => verdict === 'fails') ? EXIT.fails : EXIT.holds
  },
})

function knownRows(given: readonly string[] = []): readonly string[] {
  const ids = ROWS.map(({ id }) => id)
  const strange = given.find((id) => !ids.includes(id))
  if (strange !== undefined)
    throw new UsageError(`--skip does not know the row ${strange}. ${suggestion(strange, ids)}`)
  return given
}

/** Fails early when the token endpoint does not respond, because every row would report the same error. */
async function mustRespond({ responses }: CheckedApp): Promise<void> {
  try {
    await responses.signedIn()
  } catch (error) {
    if (error instanceof Fault) throw new CommandError(`The token endpoint returned ${error.message}`)
    if (error instanceof OutOfTime)
      throw new CommandError('The token endpoint did not respond within --max-time. Pass a longer time')
    throw new CommandError(`Cannot send the login: ${codeOf(error)}`)
  }
}

/**
 * Checks the tokens that the user passes. The app would refuse a token that does not fit for another reason than its row tests.
 * @throws UsageError that names the variable
 */
async function checkGivenTokens({ target, jwt }: CheckedApp): Promise<void> {
  const mine = await jwt().catch(() => undefined)
  for (const { name, text, wantsExpired, isForeign } of [
    { name: 'CHECK_FOREIGN_TOKEN', text: target.foreignToken, wantsExpired: false, isForeign: true },
    { name: 'CHECK_EXPIRED_TOKEN', text: target.expiredToken, wantsExpired: true, isForeign: false },
    { name: 'CHECK_OLD_TOKEN', text: target.oldToken, wantsExpired: false, isForeign: false },
  ]) {
    if (text === undefined) continue
    const token = readJwt(text)
    if (!token) throw new UsageError(`${name} is not a JWT. Set it to an access token`)
    const { exp, iss } = token.claims
    const hasExpired = typeof exp === 'number' && exp * 1000 <= Date.now()
    if (hasExpired && !wantsExpired) throw new UsageError(`${name} has expired. Set it to a token that is still valid`)
    if (!hasExpired && wantsExpired) throw new UsageError(`${name} is still valid. Set it to a token that has expired`)
    if (!isForeign && mine && iss !== mine.claims['iss'])
      throw new UsageError(`${name} is from a different environment. Set it to a token from this environment`)
  }
}
