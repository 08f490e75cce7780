import { appendFileSync, readFileSync } from 'node:fs'

/** Returns the last line of a test run. */
export function countLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

/** Appends the counts of a run to a file. */
export function leaveCounts(file, counts) {
  appendFileSync(file, `${JSON.stringify(counts)}\n`)
}

/** Returns the sum of all counts in a file. */
export function leftCounts(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return addCounts(lines.map((line) => JSON.parse(line)))
}

export function addCounts(all) {
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}
