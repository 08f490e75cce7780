import express from 'express'
import { describe, expect, it, vi } from 'vitest'
import { AuthError } from '../../../src/errors/auth-error.js'
import { issueNow } from '../../support/fixtures.js'
import { listen } from '../../support/http.js'

/** Imports a separate copy of the package, like a second one in `node_modules`. Copies share no module. */
async function copy() {
  vi.resetModules()
  const library = await import('express-token-endpoint')
  const { verifierOf } = await import('../../../src/tokens/verifier.js')
  const { isAuthError } = await import('../../../src/errors/auth-error.js')
  const { isSignInRefusal } = await import('../../../src/errors/sign-in-refusal.js')
  const { isVerifiedToken } = await import('../../../src/tokens/verified-token.js')
  const { ISSUER, signingKey } = await import('../../support/fixtures.js')
  return { ...library, isAuthError, isSignInRefusal, isVerifiedToken, ISSUER, signingKey, verifierOf }
}

describe('two copies of the package in one process', async () => {
  const [one, two] = [await copy(), await copy()]
  const key = one.signingKey('ES256')
  const issuer = one.createTokenIssuer({ issuer: one.ISSUER, keys: key })
  const subject = { accountId: 'acc-1', scopes: ['a'] }

  it('share no code (so that the tests below mean something)', () => {
    expect(one.createTokenIssuer).not.toBe(two.createTokenIssuer)
    expect(one.AuthError).not.toBe(two.AuthError)
    expect(one.AuthError).not.toBe(AuthError)
  })

  it('recognise each other’s verified tokens', async () => {
    const auth = await issuer.verify(issueNow(issuer, subject).token)
    expect([one.isVerifiedToken(auth), two.isVerifiedToken(auth)]).toEqual([true, true])
    expect(two.authOf({ auth, method: 'GET', baseUrl: '', path: '/' })).toBe(auth)
  })

  it.each([
    new one.AuthError('invalid_token', { reason: 'expired' }),
    new one.SignInRefusal('code_required', { countAsFailure: true }),
  ])('recognise each other’s refusals: $name', (error) => {
    const isForSignIns = error.name === 'SignInRefusal'
    expect([one, two].map(({ isAuthError }) => isAuthError(error))).toEqual([true, true])
    expect([one, two].map(({ isSignInRefusal }) => isSignInRefusal(error))).toEqual([isForSignIns, isForSignIns])
  })

  it.each([
    ['the issuer’s own', issuer],
    ['a copy of it', { ...issuer }],
  ])('guard with each other’s verifiers: %s', async (_, tokens) => {
    const app = express().get('/', two.requireBearer({ tokens, scope: 'a' }), (req, res) => {
      res.json({ accountId: two.authOf(req).accountId, again: one.authOf(req).accountId })
    })
    const { url } = await listen(app)
    const headers = { Authorization: `Bearer ${issueNow(issuer, subject).token}` }
    for (let i = 0; i < 2; i++) {
      const answer = await fetch(url, { headers })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual({ accountId: 'acc-1', again: 'acc-1' })
    }
    expect((await fetch(url, { headers: { Authorization: 'Bearer a.b.c' } })).status).toBe(401)
  })
})

describe('what is not the package’s own', async () => {
  const copied = await copy()
  const { isVerifiedToken, ISSUER, createTokenIssuer, requireBearer, verifierOf } = copied
  const issuer = createTokenIssuer({ issuer: ISSUER, keys: copied.signingKey('ES256') })
  const verified = await issuer.verify(issueNow(issuer, { accountId: 'acc-1' }).token)
  const keys = copied.remoteKeys('https://api.example.com/jwks.json')
  const mark = 'express-token-endpoint.VerifiedToken.1'

  it.each<[string, unknown]>([
    ['parsed JSON with the name of the mark', JSON.parse(`{"${mark}":true,"Symbol(${mark})":true}`)],
    ['a structured clone', structuredClone({ ...verified })],
  ])('is no verified token: %s', (_, value) => {
    expect(isVerifiedToken(value)).toBe(false)
  })

  it.each([
    ['without a number', 'express-token-endpoint.VerifiedToken'],
    ['with another number', 'express-token-endpoint.VerifiedToken.2'],
  ])('a token of another version, whose mark is %s, is checked as the host’s own', async (_, name) => {
    const members = { id: 'jti-1', accountId: 'acc-1', issuedAt: new Date(), [Symbol.for(name)]: undefined }
    const ask = (scopes: unknown) => {
      const tokens = { ...issuer, verify: async () => ({ ...members, scopes }) as never }
      const req = { headers: { authorization: 'Bearer a.b.c' }, rawHeaders: [], url: '/', socket: {} }
      return requireBearer({ tokens, scope: 'admin', onEvent() {} })
        .authenticate(req as never)
        .then(
          ({ scopes }) => scopes,
          ({ code }) => code,
        )
    }
    expect(await ask('superadmin')).toBe('unavailable')
    expect(await ask(['superadmin'])).toBe('insufficient_scope')
    expect(await ask(['admin'])).toEqual(['admin'])
  })

  const verify = async () => verified
  it.each<[string, object]>([
    ['a copy', { ...issuer, verify }],
    [
      'a whole copy',
      Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(issuer), verify: { value: verify } }),
    ],
    ['an heir', Object.create(issuer, { verify: { value: verify } })],
    ['a proxy', new Proxy({ ...issuer, verify }, {})],
    ['a proxy of the issuer itself', new Proxy(issuer, {})],
  ])('is used through its own verify: %s', (_, value) => {
    expect(verifierOf(issuer)).toBeDefined()
    expect(verifierOf(value)).toBeUndefined()
  })

  it('is not shown in a copy or in JSON', () => {
    expect(Object.getOwnPropertySymbols({ ...issuer, ...verified, ...keys })).toEqual([])
    expect(JSON.stringify([issuer, keys])).not.toContain('express-token-endpoint')
  })
})
