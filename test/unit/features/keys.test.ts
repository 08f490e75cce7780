import { createPublicKey, type JsonWebKey } from 'node:crypto'
import express, { Router } from 'express'
import { createTokenIssuer, createTokenVerifier, jwksRouter, type TokenIssuer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { ALGORITHMS, ISSUER, makeIssuer, SECRET, signingKey } from '../../support/fixtures.js'
import { expectProblem, packageOn, type Sent, send } from '../../support/host.js'
import { EXPRESS, listen } from '../../support/http.js'
import { pairOf } from '../../support/keys.js'
import { someToken } from '../../support/tokens.js'

const PATH = '/.well-known/jwks.json'
const PUBLIC = ALGORITHMS.filter((alg) => !alg.startsWith('HS'))
const rotating = makeIssuer({ keys: [signingKey('ES256'), { alg: 'RS256', publicKey: pairOf('RS256').publicKey }] })

describe.each(EXPRESS)('jwksRouter on %s', (_, installed) => {
  const serve = async (tokens: TokenIssuer = rotating, path?: string) => {
    const { jwksRouter } = await packageOn(installed)
    const app = installed().use(jwksRouter({ tokens, path }))
    app.use((_req, res) => void res.status(404).end('the host’s own'))
    const { port } = await listen(app)
    return { port, get: (sent: Sent = {}) => send(port, { method: 'GET', path: PATH, ...sent }) }
  }

  it('shows the public keys, to be kept for five minutes', async () => {
    const { get } = await serve()
    const { status, headers, body } = await get()
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/jwk-set+json')
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect(JSON.parse(body)).toEqual(rotating.jwks())
    expect(JSON.parse(body).keys).toMatchObject([
      { kty: 'EC', alg: 'ES256', use: 'sig', kid: expect.any(String) },
      { kty: 'RSA', alg: 'RS256', use: 'sig', kid: expect.any(String) },
    ])
  })

  it('answers HEAD as GET without the body, and a conditional GET with 304 while nothing has changed', async () => {
    const { get } = await serve()
    const [asked, answered] = [await get({ method: 'HEAD' }), await get()]
    expect(asked).toMatchObject({ status: 200, body: '' })
    for (const name of ['content-type', 'content-length', 'cache-control', 'etag']) {
      expect(asked.headers[name], name).toBe(answered.headers[name])
    }
    const { etag = '' } = answered.headers
    expect(await get({ headers: { 'If-None-Match': etag } })).toMatchObject({ status: 304, body: '' })
    expect(await get({ headers: { 'If-None-Match': '"another"' } })).toMatchObject({ status: 200 })
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('refuses %s', async (method) => {
    const { get } = await serve()
    const answer = await get({ method })
    expectProblem(answer, 405, 'method_not_allowed', 'Method Not Allowed')
    expect(answer.headers.allow).toBe('GET, HEAD')
  })

  it.each(['/.Well-Known/jwks.json', `${PATH}/`, '/xwell-known/jwks.json', '/.well-known/jwksxjson', '/'])(
    'leaves %s to the host',
    async (path) => {
      const { get } = await serve()
      expect(await get({ path })).toMatchObject({ status: 404, body: 'the host’s own' })
    },
  )

  it('is where it is told to be', async () => {
    const { get } = await serve(rotating, '/keys')
    expect(await get({ path: '/keys?x=1' })).toMatchObject({ status: 200 })
    expect(await get()).toMatchObject({ status: 404 })
  })
})

describe('jwksRouter', () => {
  const body = async (tokens: Pick<TokenIssuer, 'jwks'>) => {
    const { port } = await listen(express().use('/a', Router().use(jwksRouter({ tokens }))))
    return (await send(port, { method: 'GET', path: `/a${PATH}` })).body
  }

  it.each(PUBLIC)('shows of a %s key what verifies, and nothing that signs', async (alg) => {
    const { privateKey } = pairOf(alg)
    const issuer = makeIssuer({ keys: { alg, privateKey, kid: 'k1' } as never })
    const text = await body(issuer)
    const { d, p, q } = privateKey.export({ format: 'jwk' })
    for (const secret of [d, p, q].filter((member) => member !== undefined)) expect(text).not.toContain(secret)
    const [jwk] = JSON.parse(text).keys as JsonWebKey[]
    const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg, publicKey, kid: 'k1' } as never })
    expect(await verifier.verify(someToken(issuer))).toMatchObject({ accountId: 'acc-1' })
  })

  it.each(['HS256', 'HS384', 'HS512'] as const)('is misuse with %s secrets alone', (alg) => {
    const tokens = createTokenIssuer({ issuer: ISSUER, keys: [signingKey(alg), signingKey(alg, 'two')] })
    const says = /jwksRouter: option "tokens" must be .* with a key pair.*never published/
    expectMisuse(() => jwksRouter({ tokens }), says, [SECRET])
  })

  const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } })
  it.each([
    ['no tokens', {}, /^jwksRouter: option "tokens" must be what createTokenIssuer\(\) returned, but is missing$/],
    ['null', { tokens: null }, /option "tokens" must be what createTokenIssuer\(\) returned, but is null$/],
    ['a verifier', { tokens: verifier }, /A verifier publishes no keys/],
    ['keys', { tokens: { keys: [] } }, /option "tokens" must be/],
    ['a pattern as path', { tokens: rotating, path: '/:a' }, /option "path" must be a path/],
  ])('is misuse with %s', (_, options, says) => {
    expectMisuse(() => jwksRouter(options as never), says)
  })
})
