import { parseArgs } from 'node:util'
import { type Check, checkValue, readTable, unknownOption, type Wording } from '../options/read-options.js'
import { own } from '../options/values.js'
import { UsageError } from './command-error.js'
import type { Io } from './io.js'

/** One option of a command, and its line in the help. */
interface OptionRow {
  /** The name of the value in the help. An option without one takes no value. */
  value?: string
  multiple?: boolean
  help: string
  /** Checks the value, which is undefined when the option is absent. */
  check?: Check<unknown>
}

type OptionRows = Readonly<Record<string, OptionRow>>

type ValueOf<Row extends OptionRow> = Row extends { check: Check<infer T> }
  ? T
  : (Row extends { multiple: true } ? string[] : Row extends { value: string } ? string : boolean) | undefined

/** The values of the options, checked. */
export type Values<Rows extends OptionRows> = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> }

export interface Command<Rows extends OptionRows = OptionRows> {
  name: string
  summary: string
  /** The text after the name in the first line of the help. */
  usage: string
  /** The text below the options in the help. */
  details: string
  options: Rows
  /** The name of the command's argument. Undefined: the command takes only options. */
  operand?: string
  /** The hint for an argument too many. */
  wordTooMany?: string
  /** Options that people try, each with the option that they mean, or with a sentence. */
  aliases: Readonly<Record<string, string>>
  /** @returns the exit status */
  run(values: Values<Rows>, operand: string | undefined, io: Io): Promise<number>
}

/** Keeps each option's own type. */
export const command = <Rows extends OptionRows>(rows: Command<Rows>): Command<Rows> => rows

export const PROGRAM = 'express-token-endpoint'

export const PASSWORD_AS_ARGUMENT =
  'Never pass a password as an argument, because your shell history keeps it and other users can see it. Type it at the prompt, or send it to standard input'

const HELP_ROW: OptionRow = { help: 'show this help' }

const wordingOf = ({ name, aliases }: Pick<Command, 'name' | 'aliases'>): Wording => ({
  error: (message) => new UsageError(message),
  option: (option) => `--${option}`,
  unknown: (written) => `${name} has no option ${written}`,
  prefix: '--',
  aliases,
})

/**
 * Reads a command's arguments. Errors do not repeat unexpected arguments, because one may be a password.
 * @returns undefined when the arguments ask for help
 * @throws UsageError that names the option and the likely mistake
 */
export function readArguments(command: Command, args: readonly string[]) {
  const { name, options, operand, wordTooMany } = command
  const rows: OptionRows = { ...options, help: HELP_ROW }
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(rows).map(([option, { value, multiple = false }]) => [
        option,
        { type: value ? 'string' : 'boolean', multiple, ...(option === 'help' && { short: 'h' }) },
      ]),
    ),
    // In strict mode, the errors of parseArgs would repeat the arguments.
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const wording = wordingOf(command)
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const row = own(rows, token.name)
    if (!row) {
      const unknown = () => wording.unknown(token.rawName)
      throw unknownOption(token.name, Object.keys(rows), { ...wording, unknown })
    }
    const value = token.value
    if (!row.value && value !== undefined)
      throw new UsageError(`--${token.name} does not take a value. Remove the value`)
    if (row.value && (!value || (!token.inlineValue && value.startsWith('-')))) {
      throw new UsageError(`--${token.name} needs a value: --${token.name} ${row.value}`)
    }
    if (seen.has(token.name) && !row.multiple) throw new UsageError(`--${token.name} is set twice. Set it once`)
    seen.add(token.name)
  }
  if (positionals.length > (operand ? 1 : 0)) {
    const takes = `${name} takes ${operand ? `only one ${operand}` : 'only options'}`
    throw new UsageError(wordTooMany ? `${takes}. ${wordTooMany}` : takes)
  }
  const { help, ...given } = values
  if (help) return undefined
  const table = Object.entries(options).map(
    ([option, { check = (value: unknown) => value }]) => [option, check] as const,
  )
  const read = readTable(given, Object.fromEntries(table), wording)
  return { values: read as Values<OptionRows>, operand: positionals[0] }
}

/**
 * Checks an argument.
 * @throws UsageError that names the argument, the expected value and the likely mistake, but never the value itself
 */
export function checked<T>(what: string, check: Check<T>, value: unknown): T {
  return checkValue(what, check, value, (message) => new UsageError(message))
}

/** Creates a check for a word of a list, in any case. */
export const oneOf =
  <T extends string>(known: readonly T[], hintOn = (_word: string) => ''): Check<T | undefined> =>
  (value, option) => {
    if (value === undefined) return undefined
    const word = String(value)
    const found = known.find((name) => name.toLowerCase() === word.toLowerCase())
    const hint = hintOn(word)
    if (found === undefined) {
      throw new UsageError(`${option} must be one of ${known.join(', ')}${hint && `. ${hint}`}`)
    }
    return found
  }

/** Creates a check for a number. */
export const number =
  <T>(check: Check<number>, fallback: T): Check<number | T> =>
  (value, option) =>
    value === undefined ? fallback : checked(String(option), check, Number(value))

/** Returns the text that `--help` prints. */
export function helpOf({ name, summary, usage, details, options }: Command): string {
  const rows: OptionRows = { ...options, help: HELP_ROW }
  const lines = Object.entries(rows).map(([option, row]) => {
    return [`--${option}${row.value ? ` ${row.value}` : ''}`, row.help] as const
  })
  const width = Math.max(...lines.map(([left]) => left.length))
  return [
    `Usage: ${PROGRAM} ${name}${usage}`,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    lines.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`).join('\n'),
    details,
  ].join('\n\n')
}
