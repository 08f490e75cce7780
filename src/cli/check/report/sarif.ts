import type { Result, Verdict } from '../run.js'

const KINDS = {
  holds: { kind: 'pass', level: 'none' },
  fails: { kind: 'fail', level: 'error' },
  skipped: { kind: 'notApplicable', level: 'none' },
} as const satisfies Record<Verdict, object>

/** Returns a log in SARIF 2.1.0, which code scanners read. A row is a rule with one result. */
export const sarif = (url: string, results: readonly Result[], semanticVersion: string) => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'express-token-endpoint check', semanticVersion, rules: results.map(ruleOf) } },
      invocations: [
        { executionSuccessful: true, exitCode: results.some(({ verdict }) => verdict === 'fails') ? 1 : 0 },
      ],
      results: results.map((result, ruleIndex) => resultOf(result, ruleIndex, url)),
    },
  ],
})

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
