// Tests tokens/id-token-verifier.ts tokens/jwt/id-token-claims.ts

import { tracingChannel } from 'node:diagnostics_channel'
import {
  createTokenVerifier,
  type GuardedRequest,
  type IdTokenVerifierOptions,
  remoteKeys,
  requireBearer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectInvalidToken, expectMisuse, refusalOf, rejectionOf } from '../../support/failures.js'
import { forge, frozenClock, issueNow, makeIssuer } from '../../support/fixtures.js'
import { PROVIDER_TOKENS } from '../../support/issuers/provider-tokens.js'
import { pairOf } from '../../support/keys.js'

const { privateKey, publicKey } = pairOf('RS256')
const clock = frozenClock()
const now = clock.seconds()
const issuer = 'https://accounts.google.com'
const audience = 'client-1'
type Json = Record<string, unknown>

const keys = { alg: 'RS256', publicKey, kid: 'k1' } as const
const verifierOf = (options: Partial<IdTokenVerifierOptions> = {}) =>
  createTokenVerifier({ issuer, audience, keys, accept: 'id-token', clock, ...options })
const good = { iss: issuer, aud: audience, sub: 'user-1', iat: now, exp: now + 300 }
const tokenOf = (payload: Json = {}, header: Json = {}) =>
  forge({ alg: 'RS256', kid: 'k1', typ: 'JWT', ...header }, { ...good, ...payload }, privateKey, 'RS256')

describe('the documented tokens of providers', () => {
  // A token of a session that names no client has the claims of an ID token too. Only its audience tells, because it is not a client.
  const rows = PROVIDER_TOKENS.filter(({ what }) => !what.startsWith('of a session'))
  it.each(rows.map((row) => [row.provider, row.what, row] as const))('%s: %s', async (_provider, what, row) => {
    const { nonce } = row.payload
    const tokens = verifierOf({ issuer: row.issuer, audience: row.audience })
    const text = forge(row.header, { iss: row.issuer, iat: now, exp: now + 300, ...row.payload }, privateKey, 'RS256')
    const verified = tokens.verify(text, typeof nonce === 'string' ? { nonce } : undefined)
    // A token for the API of an app is not an ID token, and neither is one that was issued to another client.
    const isForAnother = /service account|Android/.test(what)
    if (what.startsWith('an ID token') && !isForAnother)
      expect(await verified).toMatchObject({ subject: row.payload['sub'] })
    else expect((await refusalOf(verified)).code).toBe('invalid_token')
  })
})

describe('an ID token', () => {
  it('tells who signed in, and is frozen', async () => {
    const token = await verifierOf().verify(tokenOf({ email: 'a@b.c', email_verified: true, address: { city: 'X' } }))
    expect(token).toEqual({
      issuer,
      subject: 'user-1',
      audience,
      issuedAt: new Date(now * 1000),
      expiresAt: new Date((now + 300) * 1000),
      claims: { email: 'a@b.c', email_verified: true, address: { city: 'X' } },
    })
    expect([token, token.claims, token.claims['address']].every(Object.isFrozen)).toBe(true)
  })

  it.each([
    ['no typ, as Apple writes it', {}, { typ: undefined }],
    ['azp as its audience', { azp: audience }, {}],
    ['several audiences, issued to this client', { aud: ['other', audience], azp: audience }, {}],
    ['a list with one audience', { aud: [audience] }, {}],
    ['the scopes of a sign-in', { scope: 'openid email' }, {}],
  ])('is accepted with %s', async (_what, payload, header) => {
    expect(await verifierOf().verify(tokenOf(payload, header))).toMatchObject({ subject: 'user-1' })
  })

  it.each([
    ['another client', { aud: 'client-2' }, 'audience'],
    ['no audience', { aud: undefined }, 'claims'],
    ['an empty list of audiences', { aud: [] }, 'audience'],
    ['several audiences without azp', { aud: [audience, 'other'] }, 'audience'],
    ['several audiences, issued to another client', { aud: [audience, 'other'], azp: 'other' }, 'audience'],
    ['an azp of another client', { azp: 'other' }, 'audience'],
    ['clients that disagree', { azp: audience, client_id: 'other' }, 'claims'],
    ['another issuer', { iss: 'https://evil.example' }, 'issuer'],
    ['the issuer with a slash', { iss: `${issuer}/` }, 'issuer'],
    ['no subject', { sub: undefined }, 'claims'],
    ['a number as the subject', { sub: 7 }, 'claims'],
    ['no exp', { exp: undefined }, 'claims'],
    ['no iat', { iat: undefined }, 'claims'],
    ['no iat, of another issuer', { iat: undefined, iss: 'https://evil.example' }, 'claims'],
    ['an exp that has passed', { iat: now - 9, exp: now }, 'expired'],
    ['an iat in the future', { iat: now + 1 }, 'not_yet_valid'],
    ['a number as its scopes', { scope: 7 }, 'type'],
    ['scopes of an API', { scope: 'openid reports:read' }, 'type'],
    ['the use of an access token', { token_use: 'access' }, 'type'],
    ['the type of an access token among its claims', { typ: 'Bearer' }, 'type'],
    ['a claim of access tokens', { azpacr: '0' }, 'type'],
    ['events, as a logout token has', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }, 'type'],
  ] as const)('is refused with %s', async (_what, payload, reason) => {
    await expectInvalidToken(verifierOf().verify(tokenOf(payload)), reason)
  })

  it.each([
    ['issued to a client of the list', { azp: 'android' }, undefined],
    ['issued to the audience itself', { azp: audience }, undefined],
    ['that does not say to which client it was issued', {}, undefined],
    ['with several audiences, issued to a client of the list', { aud: [audience, 'other'], azp: 'android' }, undefined],
    ['issued to another client', { azp: 'other' }, 'audience'],
    ['for a client of the list as its audience', { aud: 'android', azp: 'android' }, 'audience'],
    ['with several audiences and no azp', { aud: [audience, 'android'] }, 'audience'],
    [
      'with several audiences and only another name of the client',
      { aud: [audience, 'x'], cid: 'android' },
      'audience',
    ],
    ['with several audiences, issued to another client', { aud: [audience, 'android'], azp: 'other' }, 'audience'],
    ['with a list as azp', { azp: ['android'] }, 'claims'],
  ] as const)('with authorizedParties, a token %s is accepted or refused', async (_what, payload, reason) => {
    const verified = verifierOf({ authorizedParties: ['android', 'ios'] }).verify(tokenOf(payload))
    if (reason) await expectInvalidToken(verified, reason)
    else expect(await verified).toMatchObject({ subject: 'user-1', audience })
  })

  it.each([
    ['the type of access tokens', { typ: 'at+jwt' }, 'type'],
    ['the type of logout tokens', { typ: 'logout+jwt' }, 'type'],
    ['alg none', { alg: 'none' }, 'algorithm'],
    ['an unknown key', { kid: 'k2' }, 'unknown_key'],
    ['a kid that is no text', { kid: 7 }, 'unknown_key'],
  ] as const)('is refused with a header that has %s', async (_what, header, reason) => {
    await expectInvalidToken(verifierOf().verify(tokenOf({}, header)), reason)
  })

  it('has the nonce of the call: exactly this one, and none where the call has none', async () => {
    const { verify } = verifierOf()
    expect(await verify(tokenOf({ nonce: 'n1' }), { nonce: 'n1' })).toMatchObject({ claims: { nonce: 'n1' } })
    await expectInvalidToken(verify(tokenOf({ nonce: 'n1' }), { nonce: 'n2' }), 'nonce')
    await expectInvalidToken(verify(tokenOf({ nonce: ['n1'] }), { nonce: 'n1' }), 'nonce')
    await expectInvalidToken(verify(tokenOf(), { nonce: 'n1' }), 'nonce')
    await expectInvalidToken(verify(tokenOf({ nonce: 'n1' })), 'nonce')
    await expectInvalidToken(verify(tokenOf({ nonce: null })), 'nonce')
  })

  const needsNonce = 'option "nonce" must be the non-empty text that your server stored for this sign-in, but is '
  it.each([
    [{ nonce: undefined }, needsNonce],
    [{ nonce: '' }, needsNonce],
    [{ nonce: 7 }, needsNonce],
    [{}, needsNonce],
    [null, needsNonce],
    [{ nonc: 'x' }, 'unknown option "nonc"'],
    ['n1', 'expected an options object'],
  ])('is not accepted when the call forgot its nonce: %j', async (options, says) => {
    const error = await rejectionOf(verifierOf().verify(tokenOf({ nonce: null }), options as never))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toMatch(/^verify: .*other-sign-ins/)
    expect((error as Error).message).toContain(says)
  })

  it('fails closed while the keys of the provider cannot be fetched', async () => {
    const source = remoteKeys('http://127.0.0.1:1/keys', { onError: () => {} })
    expect(await refusalOf(verifierOf({ keys: source }).verify(tokenOf()))).toMatchObject({ code: 'unavailable' })
  })

  it('is refused after its key was replaced', async () => {
    const tokens = verifierOf()
    await tokens.verify(tokenOf())
    tokens.replaceKeys({ ...keys, kid: 'k2' })
    await expectInvalidToken(tokens.verify(tokenOf()), 'unknown_key')
  })
})

it('the channel of verifications names the provider of an ID token, and not its user', async () => {
  const channel = tracingChannel('express-token-endpoint.verify')
  const ends: object[] = []
  const subscribers = { end: (context: object) => void ends.push({ ...context }) } as never
  channel.subscribe(subscribers)
  onTestFinished(() => void channel.unsubscribe(subscribers))
  await verifierOf().verify(tokenOf())
  expect(ends).toEqual([{ issuer }])
})

describe('a guard', () => {
  const requestWith = (text: string) => {
    const authorization = `Bearer ${text}`
    return {
      headers: { authorization },
      rawHeaders: ['Authorization', authorization],
      url: '/',
    } as unknown as GuardedRequest
  }

  it('refuses a verifier of ID tokens when it is made, alone and in a list', () => {
    const tokens = verifierOf() as never
    for (const given of [tokens, [makeIssuer(), tokens]])
      expectMisuse(() => requireBearer({ tokens: given }), /ID tokens do not grant access.*auth\.signIn/)
  })

  it('admits no ID token through a copy of the verifier', async () => {
    const copy = { ...verifierOf() } as never
    const error = await rejectionOf(requireBearer({ tokens: copy, onEvent() {} }).authenticate(requestWith(tokenOf())))
    expect(error).toMatchObject({ code: 'unavailable' })
  })
})

it('a token of this package is not an ID token', async () => {
  const own = makeIssuer({ issuer, audience, clientId: audience, clock, keys: { alg: 'RS256', privateKey, kid: 'k1' } })
  await expectInvalidToken(verifierOf().verify(issueNow(own, { accountId: 'user-1' }).token), 'type')
})

it.each([
  ['no audience', { audience: undefined }, /option "audience" must be.*the id of your client/],
  ['a cache', { cache: 5 }, /unknown option "cache"/],
  ['scopes', { scopes: () => [] }, /unknown option "scopes"/],
  ['an issuer that is no URL', { issuer: 'google' }, /option "issuer"/],
  ['one client as text', { authorizedParties: 'android' }, /option "authorizedParties" must be a list of client ids/],
  ['a client that is not set', { authorizedParties: ['android', undefined] }, /option "authorizedParties"/],
  ['no keys', { keys: undefined }, /option "keys"/],
])('createTokenVerifier throws a TypeError for ID tokens with %s', (_what, change, message) => {
  expectMisuse(() => verifierOf(change as never), message)
})

it('createTokenVerifier takes authorizedParties only for tokens of providers', () => {
  const given = { issuer, keys, authorizedParties: ['android'] } as never
  expectMisuse(
    () => createTokenVerifier(given),
    /"authorizedParties" must be omitted without accept: 'jwt' or 'id-token'/,
  )
})
