import { parseArgs } from 'node:util'
import { UsageError } from '../errors.js'

export const USAGE = `Usage:
  npm run example -- totals [--house HOUSE]   print the daily totals of one house or of all houses

The command signs in at the clearing-house API as a service, and calls the online reporting API. It reads the
email address and the password of an account with the scope reports:read from SERVICE_EMAIL and
SERVICE_PASSWORD, and the addresses of both APIs from BASE_URL and REPORTING_URL. A password is never an argument.

Exit status: 0 success, 1 failure, 2 wrong usage, 3 temporary failure: run the command again later.`

export type Command = { name: 'totals'; house: string | undefined } | { name: 'help' }

/**
 * Reads the arguments.
 * @throws UsageError, which never repeats an argument because it can be a password
 */
export function readCommand(args: readonly string[]): Command {
  const { help, house } = parse(args)
  if (help) return { name: 'help' }
  if (house === '') throw new UsageError('The house is empty. Pass a house to --house, such as north.')
  return { name: 'totals', house }
}

function parse(args: readonly string[]) {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, house: { type: 'string' } } as const
    return parseArgs({ args: [...args], options }).values
  } catch {
    throw new UsageError('Unknown argument. Pass only --house HOUSE or --help.')
  }
}
