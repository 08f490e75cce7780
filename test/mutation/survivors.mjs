import { readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)

/**
 * Reads the mutants that survive, with their reasons.
 * @throws Error for a line that its file does not have, for a mutant without its code, and for a reason that is not a sentence
 */
export function readSurvivors() {
  const survivors = JSON.parse(readFileSync(new URL('survivors.json', import.meta.url), 'utf8'))
  for (const { file, line, code, becomes, why } of survivors) {
    const lines = readFileSync(new URL(file, root), 'utf8').split('\n')
    if (!lines.some((text) => text.trim() === line))
      throw new Error(`survivors.json: ${file} does not have this line: ${line}`)
    if (typeof code !== 'string' || typeof becomes !== 'string')
      throw new Error(`survivors.json: add the mutant of this line: ${line}`)
    if (!/^[A-Z].{20,}\.$/.test(why))
      throw new Error(`survivors.json: give the reason for this line in a sentence: ${line}`)
  }
  return survivors
}
