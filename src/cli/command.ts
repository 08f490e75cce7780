import { parseArgs } from 'node:util'
import { type Check, named } from '../shared/options.js'
import { suggestion } from '../shared/suggest.js'
import { UsageError } from './failure.js'
import type { Io } from './io.js'

/** One option of a command: how it is read, and its line in the help. */
export interface OptionRow {
  type: 'string' | 'boolean'
  /** What the help calls the value. */
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

/** What was given of the options. */
export type Values<Rows extends OptionRows> = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> | undefined }

export interface Command<Rows extends OptionRows = OptionRows> {
  name: string
  summary: string
  /** What stands behind the name in the help's first line. */
  usage: string
  /** What is to be known beside the options. */
  details: string
  options: Rows
  /** The words that are no options, by what they are; undefined: there are none. */
  operand?: string
  /** What to say of a word too many. */
  wordTooMany?: string
  /** What to say of options that people try, and that there are not. */
  mistakes: Readonly<Record<string, string>>
  /** @returns the exit status */
  run(values: Values<Rows>, operand: string | undefined, io: Io): Promise<number>
}

/** Keeps each option's own type. */
export const command = <const Rows extends OptionRows>(rows: Command<Rows>): Command<Rows> => rows

export const PROGRAM = 'express-token-endpoint'

export const PASSWORD_AS_ARGUMENT =
  'A password is never an argument: the shell keeps it, and others on this machine can see it. It is asked for, or read from standard input'

const HELP_ROW: OptionRow = { type: 'boolean', help: 'this text' }

export interface Given {
  help: boolean
  values: Values<OptionRows>
  operand: string | undefined
}

/**
 * Reads a command's arguments. Words that stand where no word belongs are not repeated: one may be a password.
 * @throws UsageError that names the option and the likely mistake
 */
export function readArguments(
  { name, options, operand, wordTooMany, mistakes }: Command,
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
    // Strict, it would say what is wrong in words of its own, and repeat what was given.
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const row = Object.hasOwn(rows, token.name) ? rows[token.name] : undefined
    if (!row) throw new UsageError(unknownOption(name, token.name, token.rawName, Object.keys(rows), mistakes))
    const value = token.value
    if (row.type === 'boolean' && value !== undefined) throw new UsageError(`--${token.name} takes no value`)
    if (row.type === 'string' && (!value || (!token.inlineValue && value.startsWith('-')))) {
      throw new UsageError(`--${token.name} needs a value: --${token.name} ${row.value ?? 'VALUE'}`)
    }
    if (seen.has(token.name) && !row.multiple) throw new UsageError(`--${token.name} was given twice`)
    seen.add(token.name)
  }
  if (positionals.length > (operand ? 1 : 0)) {
    const takes = `${name} takes ${operand ? `one ${operand} and no more` : 'options alone'}`
    throw new UsageError(wordTooMany ? `${takes}. ${wordTooMany}` : takes)
  }
  return { help: values['help'] === true, values: values as Values<OptionRows>, operand: positionals[0] }
}

function unknownOption(
  command: string,
  option: string,
  written: string,
  known: readonly string[],
  mistakes: Command['mistakes'],
): string {
  if (Object.hasOwn(mistakes, option)) return `${command} has no option ${written}. ${mistakes[option]}`
  return `${command} has no option ${written}. ${suggestion(option, known, '--')}`
}

/**
 * Holds what was given to a check of an option.
 * @throws UsageError that names it, what was expected and the likely mistake; never the value
 */
export function checked<T>(what: string, check: Check<T>, value: unknown): T {
  try {
    return named(what, check, value)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

/** @throws UsageError when the option is not one of these */
export function oneOf<T extends string>(option: string, known: readonly T[], value: string): T {
  const found = known.find((name) => name.toLowerCase() === value.toLowerCase())
  if (found === undefined) throw new UsageError(`--${option} must be one of ${known.join(', ')}`)
  return found
}

/** What `--help` prints. */
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
