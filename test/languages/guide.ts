import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { INVALID } from './tokens.js'

/** The pages with the strict programs. The second has the table. */
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

export const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

const HEAD = line(['library', 'language', ...Object.values(INVALID), 'strict'])
const TABLE = /(?<=<!-- libraries -->\n)[\s\S]*?(?=<!-- \/libraries -->)/

/** Replaces the rows of the measured libraries, and keeps the other rows. */
export const withRows = (text: string, rows: Readonly<Record<string, string>>): string =>
  text.replace(TABLE, (table) => {
    const known = table.trim().split('\n').slice(2)
    const kept = known.map((row): [string, string] => [
      row.slice(2, row.lastIndexOf(' ', row.indexOf(' |', 2) - 1)),
      row,
    ])
    const all = Object.values({ ...Object.fromEntries(kept), ...rows })
    return [HEAD, HEAD.replaceAll(/[^|]+/g, ' --- '), ...all, ''].join('\n')
  })
