import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

export const readme = readFileSync(`${root}README.md`, 'utf8')

/** Its text without its blocks of code, in which a `#` is no heading. */
export const prose = readme.replace(/^```[\s\S]*?^```$/gm, '')

/** What stands below a heading, up to the next one of whatever level. */
export function section(heading: string): string {
  const [, below] = prose.split(`\n${heading}\n`)
  if (below === undefined) throw new Error(`the README has no "${heading}"`)
  return below.split(/^#+ /m)[0] as string
}

/** The rows of a section's table, each with its cells, without the head. */
export function tableIn(heading: string): string[][] {
  const rows = section(heading).match(/^\|.*\|$/gm) ?? []
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  )
}
