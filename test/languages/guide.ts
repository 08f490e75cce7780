import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Library } from './libraries.js'
import { INVALID, type InvalidName } from './tokens.js'

/** The pages with the strict programs, and the page with the table. */
export const PAGES = ['other-npm-packages', 'other-languages', 'go-and-perl'] as const

export const pathOf = (page: string) => fileURLToPath(new URL(`../../docs/guides/${page}.md`, import.meta.url))

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** A block with a program of this folder: one of JavaScript has the name of an example. */
const PROGRAM = /^<!-- (example|program): (\S+) -->\n```(\w+)\n([\s\S]*?)^```$/gm

/** Returns the path of a block's program below this folder. Undefined for an example of another kind. */
function programOf(kind: string, name: string): string | undefined {
  const path = kind === 'example' ? `javascript/${name}.mjs` : name
  return kind === 'program' || existsSync(fileOf(path)) ? path : undefined
}

/** Returns the paths of the programs that a page shows. */
export const programsIn = (text: string): string[] =>
  [...text.matchAll(PROGRAM)].flatMap(([, kind = '', name = '']) => programOf(kind, name) ?? [])

/** Replaces the programs of a page with their files. */
export const withPrograms = (text: string): string =>
  text.replace(PROGRAM, (block, kind: string, name: string, language: string) => {
    const path = programOf(kind, name)
    return path === undefined
      ? block
      : `<!-- ${kind}: ${name} -->\n\`\`\`${language}\n${readFileSync(fileOf(path), 'utf8')}\`\`\``
  })

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** The verdicts of a library's two programs. */
export interface Row {
  library: Library
  accepts: Readonly<Record<InvalidName, boolean>>
  /** The number of invalid tokens that the strict program refuses. */
  strict: number
}

/** Returns the row of a library. */
export function rowOf({ library, accepts, strict }: Row): string {
  const cells = Object.values(accepts).map((accepted) => (accepted ? '**accepts**' : '✓'))
  return line([`${library.name} ${library.version}`, library.language, ...cells, String(strict)])
}

const HEAD = line(['library', 'language', ...Object.values(INVALID), 'strict'])
const TABLE = /(?<=<!-- libraries -->\n)[\s\S]*?(?=<!-- \/libraries -->)/

/** Returns the rows of the table of a page. */
export const rowsIn = (text: string): string[] => (TABLE.exec(text)?.[0] ?? '').trim().split('\n').slice(2)

/** Returns the row of a page that starts with the name of the library, of this version only or of any version. */
export const findRow = (text: string, { name, version }: Library, ofVersion = true): string | undefined =>
  rowsIn(text).find((row) => row.startsWith(`| ${name} ${ofVersion ? `${version} |` : ''}`))

/** Replaces the rows of the measured libraries, and keeps the other rows. */
export function withRows(text: string, rows: readonly Row[]): string {
  const known = rowsIn(text)
  for (const row of rows) {
    const old = findRow(text, row.library, false)
    const at = old === undefined ? known.length : known.indexOf(old)
    known[at] = rowOf(row)
  }
  const table = [HEAD, HEAD.replaceAll(/[^|]+/g, ' --- '), ...known].map((row) => `${row}\n`).join('')
  return text.replace(TABLE, () => table)
}
