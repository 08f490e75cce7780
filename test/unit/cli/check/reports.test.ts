import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
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

test('junit is the XML that CI systems read', async () => {
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

test('sarif has a rule and a result for each row', async () => {
  const log = JSON.parse(await print('sarif'))
  expect(Object.keys(log)).toEqual(['$schema', 'version', 'runs'])
  expect(log.version).toBe('2.1.0')
  const [run] = log.runs
  const { name, rules } = run.tool.driver
  expect({ name, ids: rules.map(({ id }: { id: string }) => id) }).toEqual({
    name: 'express-token-endpoint check',
    ids: ['one', 'two', 'three'],
  })
  expect(rules[0]).toMatchObject({
    shortDescription: { text: 'A wrong password gets 401.' },
    help: { text: expect.any(String) },
  })
  expect(run.invocations).toEqual([{ executionSuccessful: true, exitCode: 1 }])
  expect(run.results).toMatchObject([
    { ruleId: 'one', ruleIndex: 0, kind: 'pass', level: 'none' },
    { ruleId: 'two', ruleIndex: 1, kind: 'fail', level: 'error', partialFingerprints: {} },
    { ruleId: 'three', ruleIndex: 2, kind: 'notApplicable', level: 'none' },
  ])
  expect(run.results[2].message.text).toBe('no --guarded PATH was given')
  expect(run.results[1].locations[0].physicalLocation.artifactLocation.uri).toEqual(expect.any(String))
})

test('text and json have every row', async () => {
  expect(await print('text')).toContain('1 hold, 1 does not, 1 skipped')
  expect(JSON.parse(await print('json'))).toMatchObject({ holds: false, counts: { holds: 1, fails: 1, skipped: 1 } })
})
