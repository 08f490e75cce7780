import { appendFileSync, readFileSync } from 'node:fs'

/** The line that a run of tests ends on. */
export function countLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

/** Leaves a run's counts in a file, for whoever adds up several runs. */
export function leaveCounts(file, counts) {
  appendFileSync(file, `${JSON.stringify(counts)}\n`)
}

/** What all runs have left in a file, added up. */
export function leftCounts(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return addCounts(lines.map((line) => JSON.parse(line)))
}

export function addCounts(all) {
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}
