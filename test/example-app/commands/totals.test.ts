import express, { type RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import { dailyTotals } from '../../../example-app/commands/daily-totals.js'
import { LaterError, OperatorError } from '../../../example-app/errors.js'
import { rejectionOf } from '../../support/failures.js'
import { listen } from '../../support/http.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { ALICE, REPORT, run, startBoth, TOKEN_PATH, tempDir } from '../support.js'

const SERVICE = { SERVICE_EMAIL: ALICE.email, SERVICE_PASSWORD: ALICE.password }

test('prints the totals of all houses, or of one', async () => {
  const { url, reporting } = await startBoth({ DATA_DIR: await tempDir() })
  const env = { BASE_URL: url, REPORTING_URL: reporting, ...SERVICE }
  const north = 'north  2013-05-02  1237.50\nnorth  2013-05-03  899.90\nnorth  2013-05-06  400.05\n'
  const south = 'south  2013-05-02  3100.00\nsouth  2013-05-03  0.09\nsouth  2013-05-06  -425.00\n'
  expect(await run('commands/totals', [], env)).toMatchObject({ code: 0, stdout: north + south, stderr: '' })
  expect(await run('commands/totals', ['--house', 'south'], env)).toMatchObject({ code: 0, stdout: south, stderr: '' })
})

test('exits with 1 without an account, and with 3 when the clearing-house API is down', async () => {
  const env = { BASE_URL: `http://127.0.0.1:${await freePort()}`, ...SERVICE }
  const without = await run('commands/totals', [], { ...env, SERVICE_PASSWORD: '' })
  expect(without).toMatchObject({ code: 1, stdout: '' })
  expect(without.stderr).toMatch(/^Set SERVICE_EMAIL and SERVICE_PASSWORD .+\n$/)
  const stderr = `The clearing-house API at ${env.BASE_URL} is unreachable. Check BASE_URL.\n`
  expect(await run('commands/totals', [], env)).toMatchObject({ code: 3, stdout: '', stderr })
})

describe('a failure is one line, without the password and the token', () => {
  const TOKEN = 'a.secret.token'
  const signIn: RequestHandler = (_req, res) => {
    res.json({ authenticationToken: TOKEN, expiration: new Date(Date.now() + 3_600_000).toISOString() })
  }
  const sends =
    (status: number, headers = {}): RequestHandler =>
    (_req, res) =>
      void res.set(headers).status(status).end()
  const breaks: RequestHandler = (req) => void req.socket.destroy()

  /** Calls one server in place of both APIs. */
  async function call(token: RequestHandler, report: RequestHandler, signal = new AbortController().signal) {
    const { url } = await listen(express().post(TOKEN_PATH, token).get(REPORT, report))
    const request = { clearingHouse: url, reporting: url, account: ALICE, house: undefined, signal }
    return { url, error: (await rejectionOf(dailyTotals(request))) as Error }
  }

  const CLEARING = 'The clearing-house API at URL'
  const REPORTING = 'The online reporting API at URL'
  test.each<[string, typeof OperatorError, RequestHandler, RequestHandler]>([
    [`${CLEARING} refused the account. Check SERVICE_EMAIL`, OperatorError, sends(403), breaks],
    [`${CLEARING} accepts no sign-in`, LaterError, sends(429, { 'Retry-After': '600' }), breaks],
    [`${CLEARING} sent an unexpected response (status 404).`, OperatorError, sends(404), breaks],
    [`${CLEARING} is unreachable. Check BASE_URL.`, LaterError, breaks, breaks],
    [`${REPORTING} refused the token. Check that BASE_URL and`, OperatorError, signIn, sends(401)],
    ['The account lacks the scope reports:read.', OperatorError, signIn, sends(403)],
    [`${REPORTING} does not know the house.`, OperatorError, signIn, sends(404)],
    [`${REPORTING} sent an unexpected response (status 500).`, OperatorError, signIn, sends(500)],
    [`${REPORTING} is not available at the moment.`, LaterError, signIn, sends(503)],
    ['Cannot read the totals from the online reporting API at URL.', LaterError, signIn, breaks],
    ['Cannot read the totals from the online reporting API at URL.', LaterError, signIn, sends(200)],
  ])('%s', async (says, type, token, report) => {
    const { url, error } = await call(token, report)
    expect(error.message).toContain(says.replace('URL', url))
    expect(error.constructor).toBe(type)
    for (const secret of [ALICE.password, TOKEN]) expect(String(error)).not.toContain(secret)
  })

  test('also after the time limit', async () => {
    const { error } = await call(signIn, breaks, AbortSignal.abort())
    expect(error).toEqual(new LaterError('The APIs took too long. Try again later.'))
  })
})
