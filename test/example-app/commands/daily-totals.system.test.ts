import express, { type RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import { dailyTotals } from '../../../example-app/commands/daily-totals.js'
import { LaterError, OperatorError } from '../../../example-app/errors.js'
import { rejectionOf } from '../../support/failures.js'
import { listen } from '../../support/http.js'
import { ALICE, REPORT, TOKEN_PATH } from '../support.js'

const TOKEN = 'a.secret.token'
const signIn: RequestHandler = (_req, res) => {
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  res.json({ authenticationToken: TOKEN, expiration })
}

/** Starts one server in place of both APIs. */
async function call(token: RequestHandler, report: RequestHandler, signal = new AbortController().signal) {
  const app = express()
  app.post(TOKEN_PATH, token)
  app.get(REPORT, report)
  const { url } = await listen(app)
  return { url, done: dailyTotals({ clearingHouse: url, reporting: url, account: ALICE, house: undefined, signal }) }
}

/** Expects an error, of the class that sets the exit status, without the password and the token. */
async function expectError(done: Promise<unknown>, type: typeof OperatorError, says: RegExp): Promise<void> {
  const error = await rejectionOf(done)
  expect((error as Error).message).toMatch(says)
  expect(error).toBeInstanceOf(type)
  expect(error instanceof LaterError).toBe(type === LaterError)
  for (const secret of [ALICE.password, TOKEN]) expect(String(error)).not.toContain(secret)
}

describe('the sign-in fails', () => {
  const unused: RequestHandler = (_req, res) => void res.sendStatus(500)

  test.each<[string, RequestHandler, typeof OperatorError, RegExp]>([
    ['refused', (_req, res) => void res.status(403).end(), OperatorError, /refused the account\. Check SERVICE_EMAIL/],
    [
      'try later',
      (_req, res) => void res.set('Retry-After', '600').sendStatus(429),
      LaterError,
      /no sign-in at the moment\. Try again after \d{4}-\S+Z\.$/,
    ],
    ['unexpected', (_req, res) => void res.sendStatus(404), OperatorError, /unexpected response \(status 404\)\./],
    ['no response', (req) => void req.socket.destroy(), LaterError, /is unreachable\. Check BASE_URL\.$/],
  ])('%s', async (_what, token, type, says) => {
    const { url, done } = await call(token, unused)
    await expectError(done, type, says)
    await expect(done).rejects.toThrow(`The clearing-house API at ${url} `)
  })

  test('after the time limit', async () => {
    const { done } = await call(signIn, unused, AbortSignal.abort())
    await expectError(done, LaterError, /^The APIs took too long\. Try again later\.$/)
  })
})

describe('the call of the reporting API fails', () => {
  test.each<[number, typeof OperatorError, RegExp]>([
    [401, OperatorError, /refused the token\. Check that BASE_URL and REPORTING_URL belong together\.$/],
    [403, OperatorError, /^The account lacks the scope reports:read\.$/],
    [404, OperatorError, /does not know the house\.$/],
    [500, OperatorError, /unexpected response \(status 500\)\. Check REPORTING_URL\.$/],
    [503, LaterError, /is not available at the moment\. Try again later\.$/],
  ])('%i', async (status, type, says) => {
    const { done } = await call(signIn, (_req, res) => void res.sendStatus(status))
    await expectError(done, type, says)
  })

  test.each<[string, RequestHandler]>([
    ['no response', (req) => void req.socket.destroy()],
    ['no JSON', (_req, res) => void res.send('<html>')],
  ])('%s', async (_what, report) => {
    const { done } = await call(signIn, report)
    await expectError(done, LaterError, /^Cannot read the totals from .+ Check REPORTING_URL\.$/)
  })
})
