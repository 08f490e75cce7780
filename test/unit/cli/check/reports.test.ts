import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { FORMATS, type Format } from '../../../../src/cli/check/report/formats.js'
import type { Result } from '../../../../src/cli/check/run.js'

const URL_OF_APP = 'https://api.example.com/'
const row = { title: 'a wrong password gets 401', source: 'RFC 9110 section 11' }
const RESULTS: Result[] = [
  { ...row, id: 'one', verdict: 'holds' },
  { ...row, id: 'two', verdict: 'fails', detail: 'it gets <b>"200" & more</b>\u0000\ud800 it\'s' },
  { ...row, id: 'three', verdict: 'skipped', detail: 'no --guarded PATH was given' },
]

async function print(format: Format, results = RESULTS): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const report = FORMATS[format]({ env: {}, stdin, stdout, stderr })
  for (const [index, result] of results.entries()) {
    report.began(result.title, index, results.length)
    report.ended(result)
  }
  report.done(URL_OF_APP, results)
  stdout.end()
  return text(stdout)
}

describe('junit', () => {
  test('is the XML that CI systems read', async () => {
    expect(await print('junit')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="0" skipped="1">
  <testsuite name="express-token-endpoint check https://api.example.com/" tests="3" failures="1" errors="0" skipped="1">
    <testcase classname="check.one" name="one: a wrong password gets 401"/>
    <testcase classname="check.two" name="two: a wrong password gets 401"><failure type="two" message="it gets &lt;b&gt;&quot;200&quot; &amp; more&lt;/b&gt;?\ufffd it's">it gets &lt;b&gt;&quot;200&quot; &amp; more&lt;/b&gt;?\ufffd it's
Source: RFC 9110 section 11</failure></testcase>
    <testcase classname="check.three" name="three: a wrong password gets 401"><skipped message="no --guarded PATH was given"/></testcase>
  </testsuite>
</testsuites>
`)
  })
})

/** Returns a schema of an object that has only these members, of which some are required (SARIF 2.1.0 section 3). */
const object = (properties: Record<string, unknown>, ...required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const list = (items: unknown) => ({ type: 'array', items })
const string = { type: 'string' }
const message = object({ text: string }, 'text')

/** The members that the command uses, with the demands of the official schema. */
const SARIF = object(
  {
    $schema: { type: 'string', format: 'uri' },
    version: { enum: ['2.1.0'] },
    runs: list(
      object(
        {
          tool: object(
            {
              driver: object(
                {
                  name: string,
                  semanticVersion: string,
                  rules: list(object({ id: string, shortDescription: message, help: message }, 'id')),
                },
                'name',
              ),
            },
            'driver',
          ),
          invocations: list(
            object({ executionSuccessful: { type: 'boolean' }, exitCode: { type: 'integer' } }, 'executionSuccessful'),
          ),
          results: list(
            object(
              {
                ruleId: string,
                ruleIndex: { type: 'integer', minimum: -1 },
                kind: { enum: ['notApplicable', 'pass', 'fail', 'review', 'open', 'informational'] },
                level: { enum: ['none', 'note', 'warning', 'error'] },
                message,
                locations: list(
                  object({
                    physicalLocation: object({
                      artifactLocation: object({ uri: { type: 'string', format: 'uri-reference' } }),
                    }),
                  }),
                ),
                partialFingerprints: { type: 'object', additionalProperties: string },
              },
              'message',
            ),
          ),
        },
        'tool',
      ),
    ),
  },
  'version',
  'runs',
)

describe('sarif', () => {
  test('has the members that SARIF 2.1.0 demands, and no unknown member', async () => {
    const log = JSON.parse(await print('sarif'))
    const ajv = new Ajv2020({ strict: true, allErrors: true })
    addFormats.default(ajv)
    const valid = ajv.compile(SARIF)
    expect([valid(log), valid.errors]).toEqual([true, null])
    expect(valid({ ...log, version: '2.2' })).toBe(false)
  })

  test('a row is a rule, and its result names it', async () => {
    const [run] = JSON.parse(await print('sarif')).runs
    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['one', 'two', 'three'])
    expect(
      run.results.map(({ ruleId, ruleIndex, kind, level }: Record<string, unknown>) => [
        ruleId,
        ruleIndex,
        kind,
        level,
      ]),
    ).toEqual([
      ['one', 0, 'pass', 'none'],
      ['two', 1, 'fail', 'error'],
      ['three', 2, 'notApplicable', 'none'],
    ])
    expect(run.invocations).toEqual([{ executionSuccessful: true, exitCode: 1 }])
    expect(run.results[2].message.text).toBe('no --guarded PATH was given')
  })
})

test('text and json have every row', async () => {
  expect(await print('text')).toContain('1 hold, 1 does not, 1 skipped')
  expect(JSON.parse(await print('json'))).toMatchObject({ holds: false, counts: { holds: 1, fails: 1, skipped: 1 } })
})
