import { inspect } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSession } from '../../../example-app/page/session.js'

const tokenOf = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
const TOKEN = tokenOf({ sub: 'acc-1', iat: 1_795_203_742, exp: 1_795_207_342 })
const ANSWER = { authenticationToken: TOKEN, expiration: '2026-11-20T20:42:22.000Z' }

test('lasts as long as the token, by this machine’s clock, however wrong that is', () => {
  vi.useFakeTimers({ now: Date.UTC(2001, 0, 1), toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { endsAt, lifetimeMs, expiration } = openSession('a@b.c', ANSWER)
  expect({ endsAt, lifetimeMs, expiration }).toEqual({
    endsAt: Date.UTC(2001, 0, 1, 1),
    lifetimeMs: 3_600_000,
    expiration: ANSWER.expiration,
  })
})

test('shows the token to nobody but the calls, and forgets it', () => {
  const session = openSession('a@b.c', ANSWER)
  expect(session.headers()).toEqual({ Authorization: `Bearer ${TOKEN}` })
  expect(inspect(session, { depth: 9, showHidden: true })).not.toContain(TOKEN)
  expect(session.signal.aborted).toBe(false)
  session.close()
  expect(session.signal.aborted).toBe(true)
  expect(inspect(session.headers())).not.toContain(TOKEN)
})

test('there is none without a token that can be counted down', () => {
  for (const authenticationToken of ['opaque', tokenOf({ sub: 'acc-1' })]) {
    expect(() => openSession('a@b.c', { ...ANSWER, authenticationToken })).toThrow(TypeError)
  }
})
