import { describe, expect, it } from 'vitest'
import { forged, guess, login, refused, report, statements } from './requests.mjs'

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenFor = (sub) => `${encoded({ alg: 'ES256', kid: 'k' })}.${encoded({ sub })}.AbCd`

const ALICE = {
  id: 'a',
  email: 'alice@example.com',
  password: 'hers',
  statements: { north: '[{"id":"north-1"}]' },
  totals: [['north', ['10.00']]],
}
const ok = (body) => ({ status: 200, body: typeof body === 'string' ? body : JSON.stringify(body) })
const house = (list) => `{"house":{"id":"north"},"statements":${list}}`
const totals = (total) => ok({ houses: [{ id: 'north', days: [{ total }] }] })

describe('what is a right answer', () => {
  it.each([
    ['her statements', statements(ALICE, 'north', 't'), ok(house(ALICE.statements.north))],
    ['her totals', report(ALICE, 't'), totals('10.00')],
    ['her token', login(ALICE), ok({ authenticationToken: tokenFor('a') })],
    ['a refused guess', guess(ALICE.email), { status: 403, body: '' }],
    ['a refused token', refused('forged', 401, 't'), { status: 401, body: '{}' }],
  ])('%s', (_what, { check }, answer) => {
    expect(check(answer)).toBeUndefined()
  })

  it.each([
    ["another's statements", statements(ALICE, 'north', 't'), ok(house('[{"id":"north-2"}]'))],
    ['none of her statements', statements(ALICE, 'north', 't'), ok(house('[]'))],
    ['no statements', statements(ALICE, 'north', 't'), { status: 503, body: '' }],
    ["another's totals", report(ALICE, 't'), totals('10.01')],
    ["another's token", login(ALICE), ok({ authenticationToken: tokenFor('b') })],
    ['no token', login(ALICE), { status: 503, body: '' }],
    ['a guess that is let in', guess(ALICE.email), ok({ authenticationToken: tokenFor('a') })],
    ['a refusal that tells something', guess(ALICE.email), { status: 403, body: 'wrong password' }],
    ['a bad token that is let in', refused('forged', 401, 't'), ok('{}')],
  ])('%s is wrong', (_what, { check }, answer) => {
    expect(check(answer)).toEqual(expect.any(String))
  })
})

it('a forged token differs in its signature alone', () => {
  for (const token of ['h.p.AbCd', 'h.p.Xyz']) {
    expect(forged(token)).not.toBe(token)
    expect(forged(token)).toMatch(/^h\.p\../)
    expect(forged(token)).toHaveLength(token.length)
  }
})
