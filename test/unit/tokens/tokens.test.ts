import { generateKeyPairSync } from 'node:crypto'
import { createTokenVerifier } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { createIssuers } from '../../../src/tokens/tokens.js'
import { expectInvalidToken, expectMisuse, refusalOf } from '../../support/failures.js'
import { cachedOf, decodePayload, frozenClock, ISSUER, makeIssuer, SECRET } from '../../support/fixtures.js'
import { someToken } from '../../support/tokens.js'

const keys = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const

describe('specification 5.3: tokens are environment-specific', () => {
  const test = makeIssuer({ issuer: 'https://test.example.com' })
  const production = makeIssuer({ issuer: 'https://api.example.com' })

  it('refuses a token of the other environment, though both share the key', async () => {
    await expectInvalidToken(production.verify(someToken(test)), 'issuer')
    await expectInvalidToken(test.verify(someToken(production)), 'issuer')
  })

  it('refuses a token of its own for another audience, and of the other environment for the same one', async () => {
    const audience = 'statements'
    const shared = makeIssuer({ issuer: 'https://test.example.com', audience })
    await expectInvalidToken(makeIssuer({ audience }).verify(someToken(shared)), 'issuer')
    await expectInvalidToken(production.verify(someToken(makeIssuer({ audience }))), 'audience')
    await expectInvalidToken(makeIssuer({ audience: 'reports' }).verify(someToken(production)), 'audience')
  })

  it.each([
    ['another scheme', 'http://api.example.com'],
    ['another port', 'https://api.example.com:8443'],
    ['another path', 'https://api.example.com/test'],
    ['the path in another case', 'https://api.example.com/TEST'],
    ['a name that begins the same', 'https://api.example.com.evil.example'],
  ])('takes %s for another environment', async (_, issuer) => {
    const own = issuer.endsWith('/TEST') ? makeIssuer({ issuer: 'https://api.example.com/test' }) : production
    await expectInvalidToken(own.verify(someToken(makeIssuer({ issuer }))), 'issuer')
  })
})

it.each(['Bearer', 'bearer', 'Token'])(
  'says what to pass to a caller who leaves "%s" before the token',
  async (scheme) => {
    const issuer = makeIssuer()
    const token = someToken(issuer)
    const error = await refusalOf(issuer.verify(`${scheme} ${token}`))
    expect(error).toMatchObject({
      code: 'invalid_token',
      reason: 'malformed',
      message: 'The access token is not valid.',
    })
    const thrown = () => {
      throw error.cause
    }
    expectMisuse(thrown, 'tokens: verify got a text with a scheme, like "Bearer …". Pass only the token after it', [
      token,
    ])
  },
)

it('does not say so of another text with such a word', async () => {
  const error = await refusalOf(makeIssuer().verify('a Bearer b'))
  expect([error.reason, error.cause]).toEqual(['malformed', undefined])
})

describe('the base URL', () => {
  it.each([
    ['with a trailing slash', 'https://api.example.com/', 'https://api.example.com'],
    ['with a path', 'https://example.com/house/', 'https://example.com/house'],
  ])('%s is bound into iss and aud', (_, given, bound) => {
    const issuer = makeIssuer({ issuer: given })
    expect(issuer).toMatchObject({ issuer: bound, audience: bound })
    expect(decodePayload(someToken(issuer))).toMatchObject({ iss: bound, aud: bound })
  })

  it.each([
    ['the issuer', `${ISSUER}/`, ISSUER],
    ['the verifier', ISSUER, `${ISSUER}/`],
  ])('may have a trailing slash at %s alone', async (_, issues, verifies) => {
    const token = someToken(makeIssuer({ issuer: issues }))
    const verifier = createTokenVerifier({ issuer: verifies, keys })
    expect(await verifier.verify(token)).toMatchObject({ issuer: ISSUER, audience: ISSUER })
  })
})

it('now() is the time of the clock', () => {
  expect(makeIssuer({ clock: () => 1000 }).now()).toEqual(new Date(1000))
})

it('an explicit audience is bound as it is', async () => {
  const issuer = makeIssuer({ audience: 'urn:statements/' })
  expect(await issuer.verify(someToken(issuer))).toMatchObject({ issuer: ISSUER, audience: 'urn:statements/' })
})

it.each([undefined, null, [undefined], [null], 7, 'secret'])('a verifier takes no %j for a key', (keys) => {
  expectMisuse(() => createTokenVerifier({ issuer: ISSUER, keys: keys as never }), /^createTokenVerifier: /)
})

describe('issueSync', () => {
  it('issues the token of issue() at once', async () => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock })
    const subject = { accountId: 'acc-1', scopes: ['a', 'b'], claims: { tenant: 'x' }, lifetime: '5m' }
    const { token, id, expiresAt } = issuer.issueSync(subject)
    expect(expiresAt).toEqual(new Date(clock() + 300_000))
    expect(decodePayload(token)).toEqual({ ...decodePayload((await issuer.issue(subject)).token), jti: id })
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1', scopes: ['a', 'b'] })
  })

  it('throws the TypeErrors of issue()', () => {
    expectMisuse(() => makeIssuer().issueSync({ accountId: '' }), /^issue: "accountId" must be a non-empty string/)
  })

  it('throws a TypeError that names a key with sign, which it does not call', async () => {
    const sign = vi.fn()
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const away = { alg: 'ES256', kid: 'hsm-7', publicKey, sign } as const
    const { issueSync } = makeIssuer({ keys: [away] })
    expectMisuse(
      () => issueSync({ accountId: 'acc-1' }),
      /^issueSync: the key "hsm-7" signs with "sign".* Use issue\(\)/,
    )
    expect(sign).not.toHaveBeenCalled()
  })

  it('signs with the key that replaceKeys has put first', async () => {
    const issuer = makeIssuer()
    issuer.replaceKeys({ alg: 'HS256', secret: `another ${SECRET}`, kid: 'k2' })
    const { token } = issuer.issueSync({ accountId: 'acc-1' })
    expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toMatchObject({ kid: 'k2' })
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
  })
})

describe('the issuers of an app', () => {
  it.each([
    ['the issuer', {}, ISSUER],
    ['an audience of its own', { audience: 'api' }, 'api'],
  ])('issue tokens for %s, and tickets that are no tokens', async (_, options, audience) => {
    const { tokens, tickets } = createIssuers({ issuer: ISSUER, keys, lifetime: '5m', ...options })
    expect([tokens.audience, tickets.audience]).toEqual([audience, `${audience}#ticket`])
    await expectInvalidToken(tokens.verify(someToken(tickets)), 'audience')
    await expectInvalidToken(tickets.verify(someToken(tokens)), 'audience')
  })

  it('cache the tokens, and not the tickets, which are used once', async () => {
    const { tokens, tickets } = createIssuers({ issuer: ISSUER, keys })
    for (const [one, isCached] of [
      [tokens, true],
      [tickets, false],
    ] as const) {
      const text = someToken(one)
      await one.verify(text)
      expect(cachedOf(one, text) !== undefined).toBe(isCached)
    }
  })

  it('have the same keys, also after they were replaced', async () => {
    const { tokens, tickets } = createIssuers({ issuer: ISSUER, keys })
    const old = someToken(tickets)
    tokens.replaceKeys({ alg: 'HS256', secret: `another ${SECRET}`, kid: 'k2' })
    await expectInvalidToken(tickets.verify(old), 'unknown_key')
    expect(await tickets.verify(someToken(tickets))).toMatchObject({ issuer: ISSUER })
  })

  it('name a wrong option as createTokenIssuer does', () => {
    expectMisuse(() => createIssuers({ issuer: ISSUER, keys, lifetime: '0s' }), /^createTokenIssuer: option "lifetime"/)
    expectMisuse(() => createIssuers({ issuer: ISSUER, keys: [] }), /^createTokenIssuer: option "keys"/)
  })
})

describe('the issuer object', () => {
  const issuer = makeIssuer()

  it('is frozen, and names its environment', () => {
    expect(Object.isFrozen(issuer)).toBe(true)
    expect(issuer).toMatchObject({ issuer: ISSUER, audience: ISSUER })
  })

  it('works with its functions taken off it', async () => {
    const { issue, verify, jwks } = issuer
    expect(await verify((await issue({ accountId: 'acc-1' })).token)).toMatchObject({ accountId: 'acc-1' })
    expect(jwks()).toEqual({ keys: [] })
  })
})
