import { parseArgs } from 'node:util'
import { type Check, InvalidOption, mustBe } from '../options/read-options.js'
import { suggestion } from '../options/suggest.js'
import { UsageError } from './command-error.js'
import type { Io } from './io.js'

/** One option of a command: its type, and its line in the help. */
export interface OptionRow {
  type: 'string' | 'boolean'
  /** The name of the value in the help. */
  value?: string
  multiple?: boolean
  help: string
}

export type OptionRows = Readonly<Record<string, OptionRow>>

type ValueOf<Row extends OptionRow> = Row['type'] extends 'boolean'
  ? boolean
  : Row extends { multiple: true }
    ? string[]
    : string

/** The values of the options that were given. */
export type Values<Rows extends OptionRows> = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> | undefined }

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
  /** Hints for options that people try, but that do not exist. */
  aliases: Readonly<Record<string, string>>
  /** @returns the exit status */
  run(values: Values<Rows>, operand: string | undefined, io: Io): Promise<number>
}

/** Keeps each option's own type. */
export const command = <const Rows extends OptionRows>(rows: Command<Rows>): Command<Rows> => rows

export const PROGRAM = 'express-token-endpoint'

export const PASSWORD_AS_ARGUMENT =
  'Never pass a password as an argument, because the shell stores it and other users can see it. Enter it at the prompt, or send it to standard input'

const HELP_ROW: OptionRow = { type: 'boolean', help: 'shows this text' }

export interface Given {
  help: boolean
  values: Values<OptionRows>
  operand: string | undefined
}

/**
 * Reads a command's arguments. Errors do not repeat unexpected arguments, because one may be a password.
 * @throws UsageError that names the option and the likely mistake
 */
export function readArguments(
  { name, options, operand, wordTooMany, aliases }: Command,
  args: readonly string[],
): Given {
  const rows: OptionRows = { ...options, help: HELP_ROW }
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(rows).map(([option, { type, multiple = false }]) => [
        option,
        { type, multiple, ...(option === 'help' && { short: 'h' }) },
      ]),
    ),
    // In strict mode, the errors of parseArgs would repeat the arguments.
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const row = Object.hasOwn(rows, token.name) ? rows[token.name] : undefined
    if (!row) throw new UsageError(unknownOption(name, token.name, token.rawName, Object.keys(rows), aliases))
    const value = token.value
    if (row.type === 'boolean' && value !== undefined) throw new UsageError(`--${token.name} takes no value`)
    if (row.type === 'string' && (!value || (!token.inlineValue && value.startsWith('-')))) {
      throw new UsageError(`--${token.name} needs a value: --${token.name} ${row.value ?? 'VALUE'}`)
    }
    if (seen.has(token.name) && !row.multiple) throw new UsageError(`--${token.name} was given twice`)
    seen.add(token.name)
  }
  if (positionals.length > (operand ? 1 : 0)) {
    const takes = `${name} takes ${operand ? `only one ${operand}` : 'only options'}`
    throw new UsageError(wordTooMany ? `${takes}. ${wordTooMany}` : takes)
  }
  return { help: values['help'] === true, values: values as Values<OptionRows>, operand: positionals[0] }
}

function unknownOption(
  command: string,
  option: string,
  written: string,
  known: readonly string[],
  aliases: Command['aliases'],
): string {
  if (Object.hasOwn(aliases, option)) return `${command} has no option ${written}. ${aliases[option]}`
  return `${command} has no option ${written}. ${suggestion(option, known, '--')}`
}

/**
 * Checks the value of an option.
 * @throws UsageError that names the option, the expected value and the likely mistake, but never the value itself
 */
export function checked<T>(what: string, check: Check<T>, value: unknown): T {
  try {
    return check(value)
  } catch (error) {
    throw error instanceof InvalidOption ? new UsageError(mustBe(what, error, value)) : error
  }
}

/** @throws UsageError when the option is not one of these */
export function oneOf<T extends string>(option: string, known: readonly T[], value: string, hint = ''): T {
  const found = known.find((name) => name.toLowerCase() === value.toLowerCase())
  if (found === undefined) throw new UsageError(`--${option} must be one of ${known.join(', ')}${hint && `. ${hint}`}`)
  return found
}

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
