import { type Io, say } from '../../io.js'
import type { Result, Verdict } from '../run.js'
import { atEnd, type Report } from './report.js'

const KINDS = {
  holds: { kind: 'pass', level: 'none' },
  fails: { kind: 'fail', level: 'error' },
  skipped: { kind: 'notApplicable', level: 'none' },
} as const satisfies Record<Verdict, object>

/** Creates a report that prints SARIF 2.1.0, which code scanners read. A row is a rule with one result. */
export function sarif(io: Io, version: string): Report {
  return atEnd(io.stderr, (url, results) => {
    const failed = results.some(({ verdict }) => verdict === 'fails')
    const driver = { name: 'express-token-endpoint check', semanticVersion: version, rules: results.map(ruleOf) }
    const log = {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver },
          invocations: [{ executionSuccessful: true, exitCode: failed ? 1 : 0 }],
          results: results.map((result, ruleIndex) => resultOf(result, ruleIndex, url)),
        },
      ],
    }
    say(io, JSON.stringify(log, null, 2))
  })
}

const ruleOf = ({ id, title, source }: Result) => ({
  id,
  shortDescription: { text: `${title[0]?.toUpperCase()}${title.slice(1)}.` },
  help: { text: `Source: ${source}` },
})

function resultOf({ id, title, verdict, detail }: Result, ruleIndex: number, uri: string) {
  return {
    ruleId: id,
    ruleIndex,
    ...KINDS[verdict],
    message: { text: detail ?? `Holds: ${title}.` },
    locations: [{ physicalLocation: { artifactLocation: { uri } } }],
    // Stays the same between runs, so that a scanner recognises a result.
    partialFingerprints: { 'rowAndUrl/v1': `${id} ${uri}` },
  }
}
