import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

export const readme = readFileSync(`${root}README.md`, 'utf8')

/** The README without its code blocks, in which `#` does not start a heading. */
export const prose = readme.replace(/^```[\s\S]*?^```$/gm, '')

/** Returns the text between a heading and the next heading of any level. */
export function section(heading: string): string {
  const [, below] = prose.split(`\n${heading}\n`)
  if (below === undefined) throw new Error(`the README has no "${heading}"`)
  return below.split(/^#+ /m)[0] as string
}

/** Returns the cells of each row of a section's table, without the head. */
export function tableIn(heading: string): string[][] {
  const rows = section(heading).match(/^\|.*\|$/gm) ?? []
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  )
}
