import { suggestion } from '../../options/suggest.js'
import { command, PASSWORD_AS_ARGUMENT } from '../command.js'
import { CommandError, EXIT, UsageError } from '../command-error.js'
import { readPassword } from '../hash/password-input.js'
import { checkGivenTokens } from './probe/given-tokens.js'
import { createProbe, type Probe } from './probe/probe.js'
import { sender } from './probe/send.js'
import { createReport } from './report/report.js'
import { describeRow, judge } from './row.js'
import { ROWS } from './rows.js'
import { options, readSettings } from './settings.js'
import { codeOf, Fault, OutOfTime, type Result } from './verdict.js'

/** The longest response that is read, in bytes. Responses of this package are much shorter. */
const SIZE_LIMIT = 1_048_576

const IN_ENVIRONMENT = `${PASSWORD_AS_ARGUMENT}, or set CHECK_PASSWORD`

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

With --mapping, the rows run against any API that exchanges a password for a token. Rows that only this package promises are
skipped, with the reason. docs/reference/cli.md describes the file.

Use an account that nobody else uses. Each run makes two failed logins for it and one for an unknown address, and the limit
is ten in 15 minutes by default. It also makes some successful logins, and GET requests to your guarded paths.
No password, no token and no text of your app is printed, except names of headers. For a private certificate authority,
set NODE_EXTRA_CA_CERTS=FILE.

Exit status: ${EXIT.holds} no row fails, ${EXIT.fails} a row fails, ${EXIT.usage} wrong usage.`,
  aliases: {
    password: IN_ENVIRONMENT,
    p: IN_ENVIRONMENT,
    url: 'Pass the URL without an option: check https://api.example.com',
    user: 'email',
    username: 'email',
    route: 'guarded',
    insecure: 'For a private certificate authority, set NODE_EXTRA_CA_CERTS. For http, pass --plain-http',
  },
  async run(values, url, io) {
    const { base, timeout, maxTime, format, targetWith } = readSettings(values, url, io.env)
    const skip = knownRows(values.skip)
    const target = targetWith(io.env['CHECK_PASSWORD'] || (await readPassword(io.stdin, io.stderr)))
    const report = createReport(format, values.output, io)
    const probe = createProbe(target, sender({ timeout, sizeLimit: SIZE_LIMIT, endsAt: performance.now() + maxTime }))
    try {
      await mustRespond(probe)
      await checkGivenTokens(probe)
    } catch (error) {
      report.discard()
      throw error
    }
    const results: Result[] = []
    // In order, because rows use responses that earlier rows requested.
    for (const [index, row] of ROWS.entries()) {
      report.began(describeRow(row, probe.wire).title, index, ROWS.length)
      const result = await judge(row, probe, skip)
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
  if (strange !== undefined) throw new UsageError(`There is no row ${strange} to skip. ${suggestion(strange, ids)}`)
  return given
}

/** Fails early when the token endpoint does not respond, because every row would report the same error. */
async function mustRespond({ responses }: Probe): Promise<void> {
  try {
    await responses.signedIn()
  } catch (error) {
    if (error instanceof Fault) throw new CommandError(`The token endpoint gives ${error.message}`)
    if (error instanceof OutOfTime)
      throw new CommandError('The token endpoint does not respond within --max-time. Pass a longer time')
    throw new CommandError(`The login cannot be sent: ${codeOf(error)}`)
  }
}
