import type { Result } from '../run.js'
import { countsOf } from './report.js'

/** Returns JUnit XML, which CI systems read. A row is a test case. */
export function junit(url: string, results: readonly Result[]): string {
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
