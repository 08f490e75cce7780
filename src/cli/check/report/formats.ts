import { version } from '../../version.js'
import type { Result, Verdict } from '../verdict.js'

/** Colours a text for the place of the report. */
export type Paint = (colour: 'green' | 'red' | 'yellow' | 'dim', text: string) => string

/** The text of a report at its end, and the text of each row as soon as it is judged. */
export interface Writer {
  row?: (result: Result, paint: Paint) => string
  end: (url: string, results: readonly Result[]) => string
}

/** The formats of `--format`. */
export const FORMATS = {
  text: { row: textOf, end: (url, results) => `\n${summaryOf(url, results)}` },
  json: {
    end(url, results) {
      const counts = countsOf(results)
      return JSON.stringify({ url, holds: counts.fails === 0, counts, rows: results }, null, 2)
    },
  },
  junit: { end: junit },
  sarif: { end: (url, results) => JSON.stringify(sarif(url, results), null, 2) },
} as const satisfies Record<string, Writer>

export type Format = keyof typeof FORMATS

export function countsOf(results: readonly Result[]): Record<Verdict, number> {
  const counts = { holds: 0, fails: 0, skipped: 0 }
  for (const { verdict } of results) counts[verdict]++
  return counts
}

/** Returns the counts as one line. */
export function summaryOf(url: string, results: readonly Result[]): string {
  const { holds, fails, skipped } = countsOf(results)
  return `${url}: ${holds} hold, ${fails} ${fails === 1 ? 'does' : 'do'} not, ${skipped} skipped`
}

/** Words of the formats for each verdict. */
const VERDICTS = {
  holds: { colour: 'green', kind: 'pass', level: 'none' },
  fails: { colour: 'red', kind: 'fail', level: 'error' },
  skipped: { colour: 'yellow', kind: 'notApplicable', level: 'none' },
} as const satisfies Record<Verdict, object>

const ID_WIDTH = 20

/** Returns a line for a row, and a second line for a fault or the reason for skipping the row. */
function textOf({ id, title, source, verdict, detail }: Result, paint: Paint): string {
  const word = paint(VERDICTS[verdict].colour, verdict.padEnd(8))
  const line = `${word}${id.padEnd(ID_WIDTH)}${title} ${paint('dim', `(${source})`)}`
  return detail ? `${line}\n${' '.repeat(8 + ID_WIDTH)}${verdict === 'fails' ? 'found: ' : ''}${detail}` : line
}

/** Returns JUnit XML, which CI systems read. A row is a test case. */
function junit(url: string, results: readonly Result[]): string {
  const { fails, skipped } = countsOf(results)
  const counts = `tests="${results.length}" failures="${fails}" errors="0" skipped="${skipped}"`
  const name = `name="${escaped(`express-token-endpoint check ${url}`)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite ${name} ${counts}>`,
    ...results.map(caseOf),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}

function caseOf({ id, title, source, verdict, detail = '' }: Result): string {
  const open = `    <testcase classname="check.${id}" name="${escaped(`${id}: ${title}`)}"`
  if (verdict === 'holds') return `${open}/>`
  const message = `message="${escaped(detail)}"`
  const inner =
    verdict === 'fails'
      ? `<failure type="${id}" ${message}>${escaped(`${detail}\nSource: ${source}`)}</failure>`
      : `<skipped ${message}/>`
  return `${open}>${inner}</testcase>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text. Replaces characters that XML 1.0 cannot hold (section 2.2). */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?')
    .replace(/[&<>"]/g, (letter) => ENTITIES[letter] as string)
}

/** Returns a log in SARIF 2.1.0, which code scanners read. A row is a rule with one result. */
function sarif(uri: string, results: readonly Result[]) {
  const rules = results.map(({ id, title, source }) => ({
    id,
    shortDescription: { text: `${title[0]?.toUpperCase()}${title.slice(1)}.` },
    help: { text: `Source: ${source}` },
  }))
  const driver = { name: 'express-token-endpoint check', semanticVersion: version(), rules }
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        invocations: [{ executionSuccessful: true, exitCode: countsOf(results).fails > 0 ? 1 : 0 }],
        results: results.map(({ id, title, verdict, detail }, ruleIndex) => ({
          ruleId: id,
          ruleIndex,
          kind: VERDICTS[verdict].kind,
          level: VERDICTS[verdict].level,
          message: { text: detail ?? `Holds: ${title}.` },
          locations: [{ physicalLocation: { artifactLocation: { uri } } }],
          // Stays the same between runs, so that a scanner recognises a result.
          partialFingerprints: { 'rowAndUrl/v1': `${id} ${uri}` },
        })),
      },
    ],
  }
}
