import { createTokenVerifier, type JwtVerifierOptions } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { mayBeRefreshed } from '../../../../src/tokens/verified-token.js'
import { settled } from '../../../support/concurrency.js'
import { expectInvalidToken, expectMisuse, rejectionOf } from '../../../support/failures.js'
import { forge, frozenClock } from '../../../support/fixtures.js'
import { unhandledRejections } from '../../../support/host.js'
import { PROVIDER_TOKENS } from '../../../support/issuers/provider-tokens.js'
import { pairOf } from '../../../support/keys.js'

const { privateKey, publicKey } = pairOf('RS256')
const clock = frozenClock()
const issuer = 'https://tenant.example/'
const audience = 'https://api.example.com'

type Json = Record<string, unknown>

function verifierOf(options: Partial<JwtVerifierOptions> = {}) {
  const keys = { alg: 'RS256', publicKey, kid: 'k1' } as const
  return createTokenVerifier({ issuer, audience, keys, accept: 'jwt', clock, ...options })
}

/** Forges a token that is valid except for the changes. `undefined` removes a member. */
function tokenOf(payload: Json = {}, header: Json = {}): string {
  const iat = clock.seconds()
  const claims = { iss: issuer, aud: audience, sub: 'user-1', azp: 'client-1', iat, exp: iat + 3600, ...payload }
  return forge({ alg: 'RS256', kid: 'k1', typ: 'JWT', ...header }, claims, privateKey, 'RS256')
}

const verified = (payload: Json = {}, options: Partial<JwtVerifierOptions> = {}, header: Json = {}) =>
  verifierOf(options).verify(tokenOf(payload, header))

describe('the tokens of providers', () => {
  it.each(PROVIDER_TOKENS.map((row) => [row.provider, row.what, row] as const))(
    '%s: %s',
    async (_provider, _what, row) => {
      const { header, payload, options, result } = row
      const verifier = verifierOf({ issuer: row.issuer, audience: row.audience, ...options })
      const iat = clock.seconds()
      const verify = verifier.verify(
        forge(header, { iss: row.issuer, iat, exp: iat + 300, ...payload }, privateKey, 'RS256'),
      )
      if (typeof result === 'string') await expectInvalidToken(verify, result as never)
      else expect(await verify).toMatchObject({ issuer: row.issuer, audience: row.audience, ...result })
    },
  )
})

describe("accept: 'jwt' admits", () => {
  const TYPES = ['JWT', 'jwt', 'Jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/AT+jwt', undefined]
  it.each<[string, Json, string | undefined]>([
    ['a URI', { aud: 'urn:api' }, undefined],
    ['a name, with a role', { aud: 'api', role: 'authenticated' }, undefined],
    ['a name, with a session of Supabase', { aud: 'api', session_id: 's' }, undefined],
    ['a name, which may be that of a client', { aud: 'api' }, 'id_token'],
    ['a name beside a URI', { aud: ['api', audience] }, 'id_token'],
    ['a name, with a role that is null', { aud: 'api', role: null }, 'id_token'],
  ])('a token without a client only when it is for an API: %s', async (_what, payload, reason) => {
    const verify = verified({ azp: undefined, ...payload }, { audience: [payload['aud']].flat()[0] as string })
    if (reason) await expectInvalidToken(verify, reason as never)
    else expect(await verify).toMatchObject({ accountId: 'user-1', clientId: undefined })
  })

  it.each(TYPES)('the type %s', async (typ) => {
    const auth = await verified({}, {}, { typ })
    expect([auth.accountId, mayBeRefreshed(auth)]).toEqual(['user-1', true])
  })

  it.each([
    ['a list with the audience', { aud: ['another', audience] }],
    ['a client in two claims', { azp: 'c', client_id: 'c' }],
    ['no client, with a scope', { azp: undefined, scope: 'a' }],
    ['the client as the audience, with a scope', { azp: audience, scp: ['a'] }],
    ['the client as the audience, with azpacr', { azp: audience, azpacr: '1' }],
    ['the client as the audience, with appidacr', { azp: undefined, appid: audience, appidacr: '1' }],
    ['no client and no scope', { azp: undefined }],
    ['no client, with name and e-mail address of a row of users', { azp: undefined, name: 'A', email: 'a@b.c' }],
    ['no client, with what Supabase says about the sign-in', { azp: undefined, amr: ['pwd'], aal: 'aal1' }],
    ['a nonce in a token that says that it is an access token', { nonce: 'n', token_use: 'access' }],
  ])('%s', async (_what, payload) => {
    expect(await verified(payload)).toMatchObject({ accountId: 'user-1', audience })
  })

  it.each([
    ['an iat and an exp', { iat: clock.seconds() + 0.123, exp: clock.seconds() + 3600.5 }],
    ['an nbf that has just begun', { nbf: clock.seconds() - 0.001 }],
  ])('fractions of seconds: %s', async (_what, times) => {
    const { issuedAt, expiresAt } = await verified(times)
    // Rounded down, so that a `tokensValidAfter` of the same second refuses the token.
    expect(issuedAt).toEqual(new Date(clock.seconds() * 1000))
    expect(expiresAt).toEqual(new Date(('exp' in times ? times.exp : clock.seconds() + 3600) * 1000))
  })

  it('a token until its exp with a fraction, to the millisecond', async () => {
    const moving = frozenClock()
    const verifier = verifierOf({ clock: moving })
    const token = tokenOf({ exp: clock.seconds() + 0.5 })
    moving.advance(499)
    await verifier.verify(token)
    moving.advance(1)
    await expectInvalidToken(verifier.verify(token), 'expired')
  })

  it('only the clients of authorizedParties, each by its claim', async () => {
    const options = { authorizedParties: ['client-1', 'client-2'] }
    expect((await verified({}, options)).clientId).toBe('client-1')
    expect((await verified({ azp: undefined, client_id: 'client-2' }, options)).clientId).toBe('client-2')
    for (const payload of [{ azp: 'client-3' }, { azp: undefined }, { azp: undefined, scope: 'a' }])
      await expectInvalidToken(verified(payload, options), 'audience')
    await expectInvalidToken(verified({ azp: undefined }, options, { typ: 'at+jwt' }), 'audience')
    await expectInvalidToken(verified({}, { authorizedParties: [] }), 'audience')
    // A client of the list still gets no ID token in.
    await expectInvalidToken(verified({ azp: audience }, { authorizedParties: [audience] }), 'id_token')
  })

  it.each([
    [{ scope: 'a b' }, ['a', 'b']],
    [{ scope: ['a', 'b'] }, ['a', 'b']],
    [{ scope: '' }, []],
    [{ scp: 'a b' }, ['a', 'b']],
    [{ scp: ['a'] }, ['a']],
    [{ scope: 'a', scp: 'b' }, ['a']],
    [{}, []],
  ])('scopes of %j: %j', async (payload, scopes) => {
    expect((await verified(payload)).scopes).toEqual(scopes)
  })

  it('a token without jti, whose id is the same for each of its signatures, and for no other token', async () => {
    const es = pairOf('ES256')
    const verifier = verifierOf({ keys: { alg: 'ES256', publicKey: es.publicKey, kid: 'k1' } })
    const signed = () => {
      const iat = clock.seconds()
      const claims = { iss: issuer, aud: audience, sub: 'u', azp: 'c', iat, exp: iat + 300 }
      return forge({ alg: 'ES256', kid: 'k1' }, claims, es.privateKey, 'ES256')
    }
    const [one, two] = [signed(), signed()]
    expect(one).not.toBe(two)
    const { id } = await verifier.verify(one)
    expect(id).toMatch(/^[\w-]{43}$/)
    expect(one).not.toContain(id)
    expect((await verifier.verify(two)).id).toBe(id)
    clock.advance(1000)
    expect((await verifier.verify(signed())).id).not.toBe(id)
  })

  it('the provider’s claims as private claims, without those that are members', async () => {
    const { claims, clientId } = await verified({ tenant: 'north', scp: ['a'], roles: ['b'] })
    expect(claims).toEqual({ azp: 'client-1', tenant: 'north', scp: ['a'], roles: ['b'] })
    expect(clientId).toBe('client-1')
  })
})

describe("accept: 'jwt' refuses", () => {
  it.each([
    'jwt ',
    'at+jwt;',
    'application/jwt',
    'JOSE',
    'DPoP+JWT',
    'dpop+jwt',
    'logout+jwt',
    'secevent+jwt',
    'id+jwt',
    '',
    null,
    ['JWT'],
  ])('the type %j', async (typ) => void (await expectInvalidToken(verified({}, {}, { typ }), 'type')))

  it.each<[string, Json]>([
    ...['at_hash', 'c_hash', 's_hash', 'nonce'].map((name): [string, Json] => [
      `an ID token, by its ${name}`,
      { [name]: 'x' },
    ]),
    ['a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
    ['a token whose audience is its client', { azp: audience }],
    ['a token whose audiences include its client', { aud: [audience, 'client-1'] }],
    ['a token without a client, whose scopes are those of a sign-in', { azp: undefined, scope: 'openid' }],
    ...[
      ...[
        'auth_time',
        'acr',
        'sid',
        'tid',
        'given_name',
        'family_name',
        'middle_name',
        'nickname',
        'preferred_username',
      ],
      ...[
        'profile',
        'picture',
        'website',
        'email_verified',
        'gender',
        'birthdate',
        'zoneinfo',
        'locale',
        'phone_number',
      ],
      ...['phone_number_verified', 'address', 'updated_at', 'nonce', 'at_hash', 'c_hash', 's_hash'],
    ].map((name): [string, Json] => [`a token without a client, by its ${name}`, { azp: undefined, [name]: 'x' }]),
    ['a token without a client, by a claim of ID tokens that is null', { azp: undefined, auth_time: null }],
    [
      'the scopes of a sign-in',
      { azp: audience, scope: 'openid profile email address phone offline_access allatclaims' },
    ],
    ['another use', { token_use: 'id', scope: 'a' }],
    ['another use that is no text', { token_use: ['access'] }],
    ['another type among the claims', { typ: 'ID', scope: 'a' }],
    ['an at_hash in a token that says that it is an access token', { at_hash: 'x', token_use: 'access' }],
  ])('%s', async (_what, payload) => void (await expectInvalidToken(verified(payload), 'id_token')))

  it('an at_hash also with the type at+jwt', async () => {
    await expectInvalidToken(verified({ at_hash: 'x' }, {}, { typ: 'at+jwt' }), 'id_token')
  })

  it.each<[string, Json, string]>([
    ['another audience', { aud: 'https://other.example' }, 'audience'],
    ['a list without the audience', { aud: ['https://other.example', `${audience}/`] }, 'audience'],
    ['an audience that only begins the same', { aud: `${audience}.evil.example` }, 'audience'],
    ['no audience', { aud: undefined }, 'claims'],
    ['no audience, for a client with the name of the API', { aud: undefined, azp: audience }, 'claims'],
    [
      'no audience and no client, as an access token',
      { aud: undefined, azp: undefined, token_use: 'access' },
      'claims',
    ],
    ['an empty list', { aud: [] }, 'claims'],
    ['a list with a number', { aud: [audience, 7] }, 'claims'],
    ['a nested list', { aud: [[audience]] }, 'claims'],
    ['another issuer', { iss: 'https://evil.example/' }, 'issuer'],
    ['the issuer without its slash', { iss: 'https://tenant.example' }, 'issuer'],
    ['a list of issuers', { iss: [issuer] }, 'claims'],
    ['a client that disagrees with azp', { client_id: 'client-2' }, 'claims'],
    ['a client that disagrees with cid', { cid: 'client-2' }, 'claims'],
    ['a client that disagrees with appid', { appid: 'client-2' }, 'claims'],
    ['a client that is no text', { azp: ['client-1'] }, 'claims'],
    ['an empty client', { azp: '' }, 'claims'],
    ['no subject', { sub: undefined }, 'claims'],
    ['a subject that is no text', { sub: 7 }, 'claims'],
    ['a jti that is no text', { jti: 7 }, 'claims'],
    ['an empty jti', { jti: '' }, 'claims'],
    ['a token that is bound to a key', { cnf: { jkt: 'x' } }, 'claims'],
    ['no iat', { iat: undefined }, 'claims'],
    ['an iat as text', { iat: '1' }, 'claims'],
    ['a negative exp with a fraction', { exp: -0.5 }, 'claims'],
    ['an exp before its iat', { exp: clock.seconds() - 1 }, 'expired'],
    ['an exp at its iat', { exp: clock.seconds() }, 'expired'],
    ['an exp before its iat, which is still to come', { iat: clock.seconds() + 9, exp: clock.seconds() + 5 }, 'claims'],
    ['an exp that has passed by a fraction', { iat: 1, exp: clock.seconds() - 0.001 }, 'expired'],
    ['an nbf in a fraction of a second', { nbf: clock.seconds() + 4000.001 }, 'not_yet_valid'],
    ['no exp', { exp: undefined }, 'claims'],
    ['no exp, from another issuer', { iss: 'https://evil.example/', exp: undefined }, 'claims'],
    ['an exp that is text', { exp: '9999999999' }, 'claims'],
    ['a scope that is no text', { scope: 7 }, 'claims'],
    ['a scope with a quote', { scp: ['a"'] }, 'claims'],
    ['a nested scope', { scp: [['a']] }, 'claims'],
    ['a later nbf', { nbf: clock.seconds() + 4000 }, 'not_yet_valid'],
    ['an exp that has passed', { iat: 1, exp: 2 }, 'expired'],
  ])('%s', async (_what, payload, reason) => void (await expectInvalidToken(verified(payload), reason as never)))

  it.each(['null', '[]', '7', '"text"', '{'])('a payload that is no object: %s', async (payload) => {
    const header = { alg: 'RS256', kid: 'k1', typ: 'JWT' }
    await expectInvalidToken(verifierOf().verify(forge(header, payload, privateKey, 'RS256')), 'claims')
  })

  it('a claim that is only inherited', async () => {
    Object.assign(Object.prototype, { azp: 'client-1', scope: 'admin', sub: 'root', aud: audience })
    try {
      await expectInvalidToken(verified({ sub: undefined }), 'claims')
      await expectInvalidToken(verified({ azp: undefined, auth_time: 1 }), 'id_token')
      expect((await verified({ azp: undefined })).clientId).toBeUndefined()
      expect((await verified()).scopes).toEqual([])
    } finally {
      for (const name of ['azp', 'scope', 'sub', 'aud']) Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

describe('scopes and accountId', () => {
  it('read all claims once for each token, and cannot change them', async () => {
    const scopes = vi.fn((claims: Json) => {
      expect(() => (claims['list'] as unknown[]).push('admin')).toThrow(TypeError)
      return ['a']
    })
    const accountId = vi.fn(({ iss, sub }: Json) => `${iss}|${sub}`)
    const verifier = verifierOf({ scopes, accountId })
    const token = tokenOf({ list: ['a'], scope: 'from the claim' })
    for (let i = 0; i < 2; i++) {
      expect(await verifier.verify(token)).toMatchObject({ scopes: ['a'], accountId: `${issuer}|user-1` })
    }
    expect([scopes.mock.calls.length, accountId.mock.calls.length]).toEqual([1, 1])
    expect(scopes.mock.calls[0]?.[0]).toMatchObject({ iss: issuer, aud: audience, sub: 'user-1', azp: 'client-1' })
  })

  it.each(['scopes', 'accountId'])('cannot change the claims: %s alone', async (option) => {
    const read = vi.fn((claims: Json) => {
      expect(() => (claims['list'] as unknown[]).push('admin')).toThrow(TypeError)
      return undefined
    })
    await Promise.allSettled([verified({ list: ['a'] }, { [option]: read })])
    expect(read.mock.results).toEqual([{ type: 'return', value: undefined }])
  })

  it('are not called for a token that is refused', async () => {
    const read = vi.fn()
    const options = { scopes: read, accountId: read }
    for (const payload of [{ iss: 'x' }, { aud: 'x' }, { at_hash: 'x' }, { iat: 1, exp: 2 }]) {
      await rejectionOf(verified(payload, options))
    }
    expect(read).not.toHaveBeenCalled()
  })

  it('may return undefined: no scopes, and no account, which is refused', async () => {
    expect((await verified({ scope: 'a' }, { scopes: () => undefined })).scopes).toEqual([])
    await expectInvalidToken(verified({}, { accountId: () => undefined }), 'claims')
  })

  it.each([
    ['scopes', 'a b'],
    ['scopes', ['a b']],
    ['scopes', async () => ['a']],
    ['scopes', () => Promise.reject(new Error('no roles'))],
    ['accountId', 7],
    ['accountId', ''],
    ['accountId', async () => 'a'],
    ['accountId', () => Promise.reject(new Error('no account'))],
  ])('throw when %s returns %o', async (option, value) => {
    const unhandled = unhandledRejections()
    const { message } = (await rejectionOf(
      verified({}, { [option]: typeof value === 'function' ? value : () => value }),
    )) as Error
    expect(message).toMatch(`createTokenVerifier: "${option}" must return`)
    await settled()
    expect(unhandled).toEqual([])
  })
})

describe('the options', () => {
  const base = { issuer, audience, keys: { alg: 'RS256', publicKey }, accept: 'jwt' }
  it.each<[object, string]>([
    [
      { ...base, audience: undefined },
      `"audience" must be a non-empty string: with accept: 'jwt', the provider's name of this API, but is missing`,
    ],
    [{ ...base, accept: 'id' }, `"accept" must be 'jwt'`],
    [{ ...base, issuer: 'tenant.example' }, '"issuer" must be an absolute http or https URL'],
    [{ ...base, issuer: 'https://tenant.example/?a=1' }, '"issuer" must be an absolute http or https URL'],
    [{ ...base, scopes: ['a'] }, '"scopes" must be a function (claims) => scopes, but is an array'],
    [{ ...base, accountId: 'sub' }, '"accountId" must be a function (claims) => accountId, but is'],
    [{ ...base, accept: undefined, scopes: () => [] }, `"scopes" must be omitted without accept: 'jwt'`],
    [{ ...base, accept: undefined, accountId: () => '' }, `"accountId" must be omitted without accept: 'jwt'`],
  ])('%# are refused', (options, says) => {
    expectMisuse(() => createTokenVerifier(options as JwtVerifierOptions), `createTokenVerifier: option ${says}`)
  })

  it('keep the text of the issuer', () => {
    expect(verifierOf().issuer).toBe('https://tenant.example/')
    expect(verifierOf({ issuer: 'https://accounts.google.com' }).issuer).toBe('https://accounts.google.com')
  })
})
