import { parseArgs } from 'node:util'
import { Failure } from '../failure.js'

export const USAGE = `Usage:
  npm run account -- add EMAIL [--scope SCOPE]...   add an account
  npm run account -- password EMAIL                 set an account's password, and end its tokens

The password is asked for, or read from standard input; it is never an argument.
The accounts are those of DATABASE_URL, or of the folder DATA_DIR (example-app/.data unless set).

Exit status: 0 done, 1 not done, 2 wrong usage.`

export type Command =
  | { name: 'add'; email: string; scopes: string[] }
  | { name: 'password'; email: string }
  | { name: 'help' }

export class UsageError extends Failure {}

/** @throws UsageError, which repeats no argument: one of them may be a password */
export function readCommand(args: readonly string[]): Command {
  const { values, positionals } = parse(args)
  if (values.help) return { name: 'help' }
  const [name, email, ...more] = positionals
  if (name !== 'add' && name !== 'password') throw new UsageError('The command must be "add" or "password".')
  if (values.password !== undefined || more.length > 0) {
    throw new UsageError(
      'A password is never an argument: the shell keeps it, and others on this machine can see it. It is asked for, or read from standard input.',
    )
  }
  if (!email || !/^[^\s@]+@[^\s@]+$/.test(email)) throw new UsageError(`"${name}" needs an e-mail address.`)
  if (name === 'add') return { name, email, scopes: values.scope?.map(scopeToken) ?? [] }
  if (values.scope) throw new UsageError('"password" takes no --scope.')
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
        // Only to be refused in better words.
        password: { type: 'string', short: 'p' },
      },
    })
  } catch {
    throw new UsageError('The options are --scope SCOPE and --help.')
  }
}

/** RFC 6749 section 3.3. */
function scopeToken(value: string): string {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value)) throw new UsageError('A scope is one word, like statements:read.')
  return value
}
