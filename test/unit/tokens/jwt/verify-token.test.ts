import { createSecretKey } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ISSUED_FORM } from '../../../../src/tokens/jwt/claims.js'
import { verifyToken } from '../../../../src/tokens/jwt/verify-token.js'
import { expectInvalidToken, thrownBy } from '../../../support/failures.js'
import { ISSUER, issueNow, SECRET } from '../../../support/fixtures.js'
import { atFrozenMoment, partsOf, signParts, withOtherSignature } from '../../../support/tokens.js'
import { anyText } from '../../../support/values/any-text.js'

// Every forged token here is signed with the right key, so only its content is invalid.
const { now, issuer, forged, withPayload, withHeader } = atFrozenMoment()

describe('good by hand', () => {
  it.each([
    ['with the least claims', {}],
    ['with iat now', { payload: { iat: now } }],
    ['with nbf now', { payload: { nbf: now } }],
    ['with a scope', { payload: { scope: 'a' } }],
    ['with several scopes', { payload: { scope: 'a b:c !#[]~' } }],
    ['with a private claim', { payload: { tenant: 'north' } }],
    ['with the latest exp that a Date can hold', { payload: { exp: 8.64e12 } }],
    ['with a header member of no meaning', { header: { x: 1 } }],
  ])('%s', async (_, changes) => {
    expect(await issuer.verify(forged(changes))).toMatchObject({ id: 'jti-1', accountId: 'acc-1' })
  })
})

describe('header', () => {
  it.each([
    ['typ', 'type', [undefined, null, '', 'JWT', 'at+jwt ', 'AT+JWT', 'application/at+jwt', 7, ['at+jwt'], {}]],
    ['crit', 'critical_header', [null, [], ['exp'], ['b64'], 'exp', false]],
    ['kid', 'unknown_key', [undefined, null, '', 'k2', 'K1', 'k1 ', 1, ['k1'], { k1: 1 }, '__proto__', 'constructor']],
    [
      'alg',
      'algorithm',
      [undefined, null, '', 'none', 'None', 'NONE', 'hs256', 'HS384', 'HS512', 'RS256', 'ES256', 1, ['HS256'], {}],
    ],
  ] as const)('with any other %s is refused', async (name, reason, values) => {
    for (const value of values) await expectInvalidToken(issuer.verify(forged({ header: { [name]: value } })), reason)
  })

  it.each(['null', '[]', '["alg"]', '7', '"text"', 'true', 'alg', '{', '{"alg":"HS256"', '{} {}'])(
    'that is no JSON object: %s',
    async (header) => {
      await expectInvalidToken(issuer.verify(withHeader(header)), 'malformed')
    },
  )

  it.each([undefined, null, 1, ['k1'], {}])('kid is no text, and no source of keys is asked for it: %j', (kid) => {
    const find = vi.fn(() => ({ kid: 'k1', alg: 'HS256' as const, key: createSecretKey(Buffer.from(SECRET)) }))
    const expected = { issuer: ISSUER, audience: ISSUER, now: now * 1000, tolerance: 0 }
    const verifying = { keys: { find, all: find as never }, form: ISSUED_FORM }
    const verify = () => verifyToken(forged({ header: { kid } }), verifying, expected)
    expect(thrownBy(verify)).toMatchObject({ code: 'invalid_token', reason: 'unknown_key' })
    expect(find).not.toHaveBeenCalled()
  })

  it('that is empty', async () => {
    await expectInvalidToken(issuer.verify(withHeader({})), 'type')
  })
})

describe('claims', () => {
  const required = ['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti']
  const notText = [null, '', 7, 0, true, {}, [ISSUER], ['acc-1']]
  const notTime = [null, '', `${now}`, -1, 0.5, now + 0.5, 1e308, 8.64e12 + 1, Number.MAX_SAFE_INTEGER, true, {}, [now]]
  const notScope = [null, '', ' ', 'a ', ' a', 'a  b', 'a\tb', 'a\n', 'a"b', 'a\\b', 'é', '\u0000', 7, true, {}, ['a']]

  it.each(required)('%s is missing', async (name) => {
    await expectInvalidToken(issuer.verify(forged({ payload: { [name]: undefined } })), 'claims')
  })

  it.each([
    ...['iss', 'aud', 'sub', 'client_id', 'jti'].map((name) => [name, notText] as const),
    ...['iat', 'exp', 'nbf'].map((name) => [name, notTime] as const),
    ['scope', notScope] as const,
  ])('%s is of the wrong type', async (name, values) => {
    for (const value of values)
      await expectInvalidToken(issuer.verify(forged({ payload: { [name]: value } })), 'claims')
  })

  it.each(['1e999', '-1e999', '1e308'])('exp is the number %s', async (exp) => {
    const rest = `"iss":"${ISSUER}","aud":"${ISSUER}","sub":"acc-1","client_id":"c","iat":${now},"jti":"j"`
    expect(await issuer.verify(withPayload(`{${rest},"exp":${now + 1}}`))).toMatchObject({ id: 'j' })
    await expectInvalidToken(issuer.verify(withPayload(`{${rest},"exp":${exp}}`)), 'claims')
  })

  it('exp is not after iat: expired where it has passed, and else not valid', async () => {
    for (const times of [
      { iat: now - 9, exp: now - 9 },
      { iat: now, exp: now - 1 },
      { iat: now, exp: now },
      { iat: now + 9, exp: now - 9 },
    ])
      await expectInvalidToken(issuer.verify(forged({ payload: times })), 'expired')
    for (const exp of [now + 1, now + 9])
      await expectInvalidToken(issuer.verify(forged({ payload: { iat: now + 9, exp } })), 'claims')
    // A token of another environment does not become an expired one.
    const payload = { iat: now, exp: now - 1, iss: 'https://other.example' }
    await expectInvalidToken(issuer.verify(forged({ payload })), 'issuer')
  })
})

describe('payload', () => {
  it.each(['null', '[]', '[{}]', '7', '"text"', 'true', 'text', '{', '{}', '{} {}', ' ', '\u0000', '\ufeff{}'])(
    'that is no object of claims: %j',
    async (payload) => {
      await expectInvalidToken(issuer.verify(withPayload(payload)), 'claims')
    },
  )

  it.each([
    ['a byte alone', [0xff]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a character cut short', [0xe2, 0x82]],
  ])('that is not UTF-8: %s', async (_, bytes) => {
    const { header, payload } = partsOf(forged())
    const wrapped = Buffer.from(payload, 'base64url').toString().replace('acc-1', '@').split('@').map(Buffer.from)
    const spelt = Buffer.concat([wrapped[0] as Buffer, Buffer.from(bytes), wrapped[1] as Buffer])
    await expectInvalidToken(issuer.verify(signParts(header, spelt.toString('base64url'))), 'malformed')
    const broken = Buffer.concat([
      Buffer.from(header, 'base64url').subarray(0, -2),
      Buffer.from([...bytes, 0x22, 0x7d]),
    ])
    await expectInvalidToken(issuer.verify(signParts(broken.toString('base64url'), payload)), 'malformed')
  })
})

describe('the refusal', () => {
  it('names the jti where the signature was good, and only there', async () => {
    const expired = forged({ payload: { iat: 0, exp: 1 } })
    expect((await expectInvalidToken(issuer.verify(expired), 'expired')).tokenId).toBe('jti-1')
    const { header, payload, signature } = partsOf(expired)
    const forgery = `${header}.${payload}.${signature.slice(2)}AA`
    expect(await expectInvalidToken(issuer.verify(forgery), 'signature')).not.toHaveProperty('tokenId')
    const noId = forged({ payload: { jti: 7 } })
    expect(await expectInvalidToken(issuer.verify(noId), 'claims')).not.toHaveProperty('tokenId')
  })

  it.each([
    ['malformed', 'x'],
    ['type', forged({ header: { typ: 'JWT' } })],
    ['signature', withOtherSignature(forged())],
    ['expired', forged({ payload: { iat: 0, exp: 1 } })],
  ] as const)('names the issuer that refuses: %s', async (reason, token) => {
    expect((await expectInvalidToken(issuer.verify(token), reason)).issuer).toBe(ISSUER)
  })

  it('holds nothing of the token text', async () => {
    const token = forged({ payload: { iat: 0, exp: 1 } })
    const shown = inspect(await expectInvalidToken(issuer.verify(token), 'expired'), { depth: 9, showHidden: true })
    for (const part of Object.values(partsOf(token))) expect(shown).not.toContain(part)
  })
})

it('private claims may have the names of members of every object', async () => {
  const payload = JSON.parse('{"__proto__":{"admin":true},"constructor":1,"toString":"x"}')
  const expected = Object.entries(payload)
  for (const token of [forged({ payload }), issueNow(issuer, { accountId: 'acc-1', claims: payload }).token]) {
    const { claims } = await issuer.verify(token)
    expect(Object.entries(claims)).toEqual(expected)
    expect(claims).not.toHaveProperty('admin')
  }
})

const REGISTERED = ['iss', 'aud', 'sub', 'client_id', 'iat', 'nbf', 'exp', 'jti', 'scope']

const inOrder = (entries: [string, unknown][]) =>
  JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)))

it('what is issued is what is verified, whatever the account is', async () => {
  const scope = fc.string({ unit: fc.constantFrom(...'!#az~[]:/'), minLength: 1 })
  const subjects = fc.record({
    accountId: anyText({ minLength: 1 }),
    scopes: fc.array(scope),
    claims: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  await fc.assert(
    fc.asyncProperty(subjects, async (subject) => {
      const { token, id } = issueNow(issuer, subject)
      const kept = Object.entries(subject.claims).filter(([name]) => !REGISTERED.includes(name))
      const verified = await issuer.verify(token)
      expect(verified).toMatchObject({ id, accountId: subject.accountId, scopes: subject.scopes })
      expect(inOrder(Object.entries(verified.claims))).toBe(inOrder(kept))
    }),
    { numRuns: 200 },
  )
})
