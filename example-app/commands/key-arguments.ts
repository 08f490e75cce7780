import { parseArgs } from 'node:util'
import { Failure } from '../failure.js'

export const USAGE = `Usage:
  npm run keys -- list          all keys, the one that signs first
  npm run keys -- add           add a key, which verifies and does not sign yet
  npm run keys -- promote KID   let a key sign; the one that did so far only verifies
  npm run keys -- remove KID    remove a key: its tokens end

The keys are those of the folder DATA_DIR (example-app/.data unless set). Processes take up a change when they are
started anew; the README tells in which order.

Exit status: 0 done, 1 not done, 2 wrong usage.`

export type Command =
  | { name: 'list' }
  | { name: 'add' }
  | { name: 'help' }
  | { name: 'promote'; kid: string }
  | { name: 'remove'; kid: string }

export class UsageError extends Failure {}

/** @throws UsageError */
export function readCommand(args: readonly string[]): Command {
  const { values, positionals } = parse(args)
  if (values.help) return { name: 'help' }
  const [name, kid, ...more] = positionals
  switch (name) {
    case 'list':
    case 'add':
      if (kid !== undefined) throw new UsageError(`"${name}" takes nothing more.`)
      return { name }
    case 'promote':
    case 'remove':
      if (!kid || more.length > 0) throw new UsageError(`"${name}" needs the id of one key.`)
      return { name, kid }
    default:
      throw new UsageError('The command must be "list", "add", "promote" or "remove".')
  }
}

function parse(args: readonly string[]) {
  const options = { help: { type: 'boolean', short: 'h' } } as const
  // An id may begin with a hyphen, and is no option for that.
  const separated = args.map((arg) => (/^[\w-]{43}$/.test(arg) ? ['--', arg] : [arg]))
  try {
    return parseArgs({ args: separated.flat(), allowPositionals: true, options })
  } catch {
    throw new UsageError('The only option is --help.')
  }
}
