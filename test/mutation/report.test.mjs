import { expect, it } from 'vitest'
import { compare, countsOf, isTimeout, isUntriedStatic, survivorsOf, without } from './report.mjs'

const FILE = 'src/shared/limit.ts'
const source = 'export const isOver = (n: number) =>\n  n > 10\n'
const at = (status, replacement, start, end) => ({ status, replacement, location: { start, end } })
const over = (status) => at(status, 'n >= 10', { line: 2, column: 3 }, { line: 2, column: 9 })
const whole = (status) => at(status, '() => undefined', { line: 1, column: 23 }, { line: 2, column: 9 })
const report = (...mutants) => ({ files: { [FILE]: { source, mutants } } })
const survivor = { file: FILE, line: 'n > 10', code: 'n > 10', becomes: 'n >= 10' }

it('reads survivors without line numbers, on one line', () => {
  const line = 'export const isOver = (n: number) =>'
  const other = { file: FILE, line, code: '(n: number) => n > 10', becomes: '() => undefined' }
  expect(survivorsOf(report(over('Survived'), whole('NoCoverage')))).toEqual([survivor, other])
})

it('finds survivors that nobody has explained, and explanations of mutants that a test notices now', () => {
  const explained = { ...survivor, why: 'a reason' }
  expect(compare(report(over('Survived')), [])).toEqual({ unexplained: [survivor], outdated: [] })
  expect(compare(report(over('Survived')), [explained])).toEqual({ unexplained: [], outdated: [] })
  expect(compare(report(over('Survived')), [{ ...explained, becomes: 'n < 10' }]).unexplained).toEqual([survivor])
  for (const status of ['Killed', 'Timeout', 'RuntimeError', 'Ignored'])
    expect(compare(report(over(status)), [explained])).toEqual({ unexplained: [], outdated: [explained] })
  // Of other rooms it says nothing.
  expect(compare(report(), [{ ...explained, file: 'src/other.ts' }])).toEqual({ unexplained: [], outdated: [] })
})

it('counts a timeout as noticed, code without a test as missed, and neither for mutants that could not run', () => {
  const states = ['Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'Ignored']
  const counts = { mutants: 5, killed: 2, timeouts: 1, survived: 2, other: 2, score: 60 }
  expect(countsOf(report(...states.map(over)))).toEqual(counts)
  expect(countsOf(report()).score).toBe(100)
})

it('forgets timeouts, and survivors of code that runs while a module loads', () => {
  const [killed, timeout, survived] = ['Killed', 'Timeout', 'Survived'].map(over)
  const [staticKilled, staticSurvived] = [killed, survived].map((mutant) => ({ ...mutant, static: true }))
  const given = { ...report(killed, timeout, survived, staticKilled, staticSurvived), schemaVersion: '2' }
  const left = (isForgotten) => without(given, isForgotten).files[FILE].mutants
  expect(left(isTimeout)).toEqual([killed, survived, staticKilled, staticSurvived])
  expect(left(isUntriedStatic)).toEqual([killed, timeout, survived, staticKilled])
  expect(without(given, () => false)).toEqual(given)
})
