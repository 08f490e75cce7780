import { parseArgs } from 'node:util'
import { UsageError } from '../errors.js'

export const USAGE = `Usage:
  npm run example -- account add EMAIL [--scope SCOPE]...   add an account
  npm run example -- account password EMAIL                 set an account's password and revoke its tokens

The command asks for the password, or reads it from standard input. A password is never an argument.
The command uses the database of DATABASE_URL, or the SQLite file in DATA_DIR (default: example-app/.data).

Exit status: 0 success, 1 failure, 2 wrong usage.`

export type Command =
  | { name: 'add'; email: string; scopes: string[] }
  | { name: 'password'; email: string }
  | { name: 'help' }

/**
 * Reads the arguments.
 * @throws UsageError, which never repeats an argument because it can be a password
 */
export function readCommand(args: readonly string[]): Command {
  const { values, positionals } = parse(args)
  if (values.help) return { name: 'help' }
  const [name, email, ...more] = positionals
  if (name !== 'add' && name !== 'password') throw new UsageError('Unknown command. Pass "add" or "password".')
  if (values.password !== undefined || more.length > 0) {
    throw new UsageError(
      'A password is never an argument, because other users of this machine can see it. Type it when asked, or pipe it to standard input.',
    )
  }
  if (!email || !/^[^\s@]+@[^\s@]+$/.test(email)) throw new UsageError(`Pass an email address to "${name}".`)
  if (name === 'add') return { name, email, scopes: values.scope?.map(scopeToken) ?? [] }
  if (values.scope) throw new UsageError('"password" has no option --scope. Omit it.')
  return { name, email }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        scope: { type: 'string', multiple: true },
        // Declared only for a better message.
        password: { type: 'string', short: 'p' },
      },
    })
  } catch {
    throw new UsageError('Unknown option. Pass --scope SCOPE or --help.')
  }
}

/** Checks a scope (RFC 6749 section 3.3). */
function scopeToken(value: string): string {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value))
    throw new UsageError('A scope is one word. Pass a scope such as statements:read.')
  return value
}
