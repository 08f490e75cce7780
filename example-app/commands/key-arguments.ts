import { parseArgs } from 'node:util'
import { UsageError } from '../errors.js'

export const USAGE = `Usage:
  npm run example -- keys list          list all keys, the signing key first
  npm run example -- keys add           add a key that verifies and does not sign yet
  npm run example -- keys promote KID   make a key sign; the previous signing key then only verifies
  npm run example -- keys remove KID    remove a key and so revoke its tokens

The command edits the folder DATA_DIR (default: example-app/.data). A process reads the keys when it starts.
So restart the processes one by one after each step: the clearing-house API first, then the reporting API.
example-app/README.md explains when to take the next step.

Exit status: 0 success, 1 failure, 2 wrong usage.`

export type Command =
  | { name: 'list' }
  | { name: 'add' }
  | { name: 'help' }
  | { name: 'promote'; kid: string }
  | { name: 'remove'; kid: string }

/** @throws UsageError */
export function readCommand(args: readonly string[]): Command {
  const { values, positionals } = parse(args)
  if (values.help) return { name: 'help' }
  const [name, kid, ...more] = positionals
  switch (name) {
    case 'list':
    case 'add':
      if (kid !== undefined) throw new UsageError(`"${name}" has no further arguments. Omit them.`)
      return { name }
    case 'promote':
    case 'remove':
      if (!kid || more.length > 0) throw new UsageError(`Pass the id of one key to "${name}".`)
      return { name, kid }
    default:
      throw new UsageError('Unknown command. Pass "list", "add", "promote" or "remove".')
  }
}

function parse(args: readonly string[]) {
  const options = { help: { type: 'boolean', short: 'h' } } as const
  // An id can start with a hyphen and would then look like an option.
  const separated = args.map((arg) => (/^[\w-]{43}$/.test(arg) ? ['--', arg] : [arg]))
  try {
    return parseArgs({ args: separated.flat(), allowPositionals: true, options })
  } catch {
    throw new UsageError('Unknown option. Pass only --help.')
  }
}
