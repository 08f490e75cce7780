const MISSED = ['Survived', 'NoCoverage']
const oneLine = (text) => text.replace(/\s+/g, ' ').trim()

/** Returns the mutants of a report of Stryker that no test noticed. None has a line number, because line numbers change with every edit. */
export function survivorsOf(report) {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    return mutants
      .filter(({ status }) => MISSED.includes(status))
      .map(({ location: { start, end }, replacement }) => {
        const whole = lines.slice(start.line - 1, end.line)
        whole[whole.length - 1] = whole[whole.length - 1].slice(0, end.column - 1)
        const code = oneLine([whole[0].slice(start.column - 1), ...whole.slice(1)].join('\n'))
        return { file, line: lines[start.line - 1].trim(), code, becomes: oneLine(replacement) }
      })
  })
}

const keyOf = ({ file, line, code, becomes }) => JSON.stringify([file, line, code, becomes])

/**
 * Compares the survivors of a report with the explained ones.
 * @returns survivors without an explanation, and explanations of mutants that no longer survive
 */
export function compare(report, explained) {
  const survivors = new Map(survivorsOf(report).map((one) => [keyOf(one), one]))
  const known = new Map(explained.filter(({ file }) => file in report.files).map((one) => [keyOf(one), one]))
  return {
    unexplained: [...survivors].filter(([key]) => !known.has(key)).map(([, one]) => one),
    outdated: [...known].filter(([key]) => !survivors.has(key)).map(([, one]) => one),
  }
}

/** Counts the mutants of a report. The score is the percentage of mutants that a test noticed. */
export function countsOf(report) {
  const states = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (...wanted) => states.filter((status) => wanted.includes(status)).length
  const [killed, timeouts, survived] = [count('Killed'), count('Timeout'), count(...MISSED)]
  const mutants = killed + timeouts + survived
  const score = mutants === 0 ? 100 : (100 * (killed + timeouts)) / mutants
  return { mutants, killed, timeouts, survived, other: states.length - mutants, score }
}

/** Returns a report without some mutants, so that the next run tries them again. */
export function without(report, isForgotten) {
  const files = Object.entries(report.files).map(([path, file]) => [
    path,
    { ...file, mutants: file.mutants.filter((mutant) => !isForgotten(mutant)) },
  ])
  return { ...report, files: Object.fromEntries(files) }
}

/** A slow machine causes timeouts too. */
export const isTimeout = ({ status }) => status === 'Timeout'

/** A mutant of code that runs while a module loads, and that is not active before the tests begin. */
export const isUntriedStatic = ({ status, static: isStatic }) => isStatic === true && status === 'Survived'
