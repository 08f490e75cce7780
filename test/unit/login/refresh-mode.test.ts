import { expect, it } from 'vitest'
import { withinSession } from '../../../src/login/refresh-mode.js'
import { LONGEST_AGE } from '../../../src/options/checks.js'

const NOW = 1_767_225_600_000
const MINUTE = 60_000

it.each([
  ['as long as its session by default', undefined, MINUTE, '60000ms'],
  ['as long as its session for a longer lifetime of the account', '1h', MINUTE, '60000ms'],
  ['for the lifetime of the account when the session ends at the same time', '1m', MINUTE, '1m'],
  ['for a shorter lifetime of the account', '30s', MINUTE, '30s'],
  ['for one second when the session ends sooner by the clock of another process', undefined, -5, '1000ms'],
  ['for the longest lifetime of tokens at most', undefined, 10 * LONGEST_AGE, `${LONGEST_AGE}ms`],
  ['for an invalid lifetime, which "issue" refuses', 'soon', MINUTE, 'soon'],
])('a token with a refresh token lasts %s', (_, lifetime, left, expected) => {
  const session = { id: 'a', createdAt: new Date(NOW), expiresAt: new Date(NOW + left) }
  const subject = { accountId: 'acc-1', lifetime: lifetime as never }
  expect(withinSession(subject, session, NOW)).toEqual({
    accountId: 'acc-1',
    lifetime: expected,
    sessionId: 'a',
    signedInAt: session.createdAt,
  })
})
