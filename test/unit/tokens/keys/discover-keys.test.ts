// Tests tokens/keys/fetch-text.ts

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createTokenVerifier, discoverKeys, type KeysFetch, type RemoteKeysOptions } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { deferred, settled, until } from '../../../support/concurrency.js'
import { expectInvalidToken, expectMisuse, refusalOf } from '../../../support/failures.js'
import { forge, frozenClock } from '../../../support/fixtures.js'
import { startSource } from '../../../support/jwks-source.js'
import { pairOf } from '../../../support/keys.js'

const AUDIENCE = 'https://api.example.com'
const { privateKey, publicKey } = pairOf('RS256')
const SET = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] }

type Documents = Record<string, unknown>

/**
 * Starts a provider on loopback that serves these documents by their paths.
 * @param path the path of its issuer
 */
async function startProvider(path: string, documentsOf: (issuer: string, origin: string) => Documents) {
  const asked: string[] = []
  let documents: Documents = {}
  const source = await startSource((req: IncomingMessage, res: ServerResponse) => {
    asked.push(req.url ?? '')
    const found = documents[req.url ?? '']
    if (typeof found === 'function') return found(req, res)
    res.writeHead(found === undefined ? 404 : 200).end(typeof found === 'string' ? found : JSON.stringify(found))
  })
  const { origin } = new URL(source.url)
  const issuer = origin + path
  const set = (make: typeof documentsOf) => {
    documents = make(issuer, origin)
  }
  set(documentsOf)
  const clock = frozenClock()
  const errors: string[] = []
  function verifierWith(options: RemoteKeysOptions = {}) {
    const keys = discoverKeys(issuer, { clock, onError: ({ message }) => errors.push(message), ...options })
    return createTokenVerifier({ issuer, audience: AUDIENCE, accept: 'jwt', keys, clock })
  }
  const token = (kid = 'k1') => {
    const claims = { iss: issuer, aud: AUDIENCE, sub: 'u', azp: 'c', iat: clock.seconds(), exp: clock.seconds() + 300 }
    return forge({ alg: 'RS256', typ: 'JWT', kid }, claims, privateKey, 'RS256')
  }
  return { issuer, origin, asked, set, clock, errors, verifierWith, token, source }
}

const OPENID = '/.well-known/openid-configuration'
const OAUTH = '/.well-known/oauth-authorization-server'

/** A provider with OpenID discovery at the root. */
const usual = (issuer: string, origin: string) => ({
  [OPENID]: { issuer, jwks_uri: `${origin}/keys` },
  '/keys': SET,
})

describe('discoverKeys', () => {
  it.each([
    ['OpenID Connect', '', OPENID, [OPENID, '/keys']],
    ['OpenID Connect, an issuer with a slash at its end', '/', OPENID, [OPENID, '/keys']],
    ['OpenID Connect, below a path', '/realms/shop', `/realms/shop${OPENID}`, [`/realms/shop${OPENID}`, '/keys']],
    ['RFC 8414', '', OAUTH, [OPENID, OAUTH, '/keys']],
    ['RFC 8414, before a path', '/a/b', `${OAUTH}/a/b`, [`/a/b${OPENID}`, `${OAUTH}/a/b`, '/keys']],
  ])('finds the keys by %s, at the first token', async (_what, path, at, expected) => {
    const documents = (issuer: string, origin: string) => ({
      [at]: { issuer, jwks_uri: `${origin}/keys` },
      '/keys': SET,
    })
    const { asked, verifierWith, token, errors } = await startProvider(path, documents)
    const verifier = verifierWith()
    expect(asked).toEqual([])
    for (let i = 0; i < 3; i++) expect(await verifier.verify(token())).toMatchObject({ accountId: 'u' })
    expect(asked).toEqual(expected)
    expect(errors).toEqual([])
  })

  const SECOND = { ...SET.keys[0], kid: 'k2' }
  const moved = (issuer: string, origin: string) => ({
    [OPENID]: { issuer, jwks_uri: `${origin}/moved` },
    '/keys': SET,
    '/moved': { keys: [SECOND] },
  })

  it('finds a key at the new address of the keys, and forgets the removed key, although the old address still responds', async () => {
    const { asked, set, clock, verifierWith, token } = await startProvider('', usual)
    const verifier = verifierWith()
    await verifier.verify(token())
    set(moved)
    clock.advance(31_000)
    await expect(verifier.verify(token('k2'))).resolves.toMatchObject({ accountId: 'u' })
    await expectInvalidToken(verifier.verify(token('k1')), 'unknown_key')
    expect(asked).toEqual([OPENID, '/keys', OPENID, '/moved'])
  })

  it('refreshes the address of the keys together with the keys, after half of their maximum age', async () => {
    const { asked, set, clock, verifierWith, token } = await startProvider('', usual)
    const verifier = verifierWith()
    await verifier.verify(token())
    set(moved)
    clock.advance(300_000)
    await expect(verifier.verify(token())).resolves.toMatchObject({ accountId: 'u' })
    await until(() => expect(asked).toEqual([OPENID, '/keys', OPENID, '/moved']))
    await until(() => expectInvalidToken(verifier.verify(token()), 'unknown_key'))
  })

  it('reads the metadata and the keys at most once in 30 s, whatever unknown keys tokens name', async () => {
    const { asked, clock, verifierWith, token } = await startProvider('', usual)
    const verifier = verifierWith()
    await verifier.verify(token())
    clock.advance(30_000)
    const flood = () => Promise.all(Array.from({ length: 50 }, (_, i) => refusalOf(verifier.verify(token(`x${i}`)))))
    expect(new Set((await flood()).map(({ reason }) => reason))).toEqual(new Set(['unknown_key']))
    await flood()
    clock.advance(29_999)
    await flood()
    expect(asked).toEqual([OPENID, '/keys', OPENID, '/keys'])
  })

  describe('while the metadata cannot be read', () => {
    const withoutMetadata = (issuer: string, origin: string) => ({ ...usual(issuer, origin), [OPENID]: undefined })
    const ofAnotherIssuer = (issuer: string, origin: string) => ({
      ...moved(issuer, origin),
      [OPENID]: { issuer: `${issuer}/other`, jwks_uri: `${origin}/moved` },
    })

    it.each([
      ['is missing', withoutMetadata, 'the status was 404, not 200'],
      ['is of another issuer', ofAnotherIssuer, 'the metadata is from a different issuer'],
    ])('uses the last known address of the keys for 1 hour when the metadata %s', async (_what, documents, says) => {
      const { asked, set, clock, verifierWith, token, errors, issuer } = await startProvider('', usual)
      const verifier = verifierWith()
      await verifier.verify(token())
      set(documents)
      for (let minutes = 5; minutes < 60; minutes += 5) {
        clock.advance(300_000)
        expect(await refusalOf(verifier.verify(token('k2')))).toMatchObject({ code: 'unavailable', dependency: 'keys' })
        await expect(verifier.verify(token())).resolves.toMatchObject({ accountId: 'u' })
      }
      expect(errors[0]).toMatch(`discoverKeys: no keys from ${issuer}: no metadata. ${issuer}${OPENID}: ${says}`)
      expect(asked).not.toContain('/moved')
      clock.advance(300_000)
      expect(await refusalOf(verifier.verify(token()))).toMatchObject({ code: 'unavailable', dependency: 'keys' })
      set(usual)
      clock.advance(30_000)
      await expect(verifier.verify(token())).resolves.toMatchObject({ accountId: 'u' })
    })

    it('forgets a key that was removed at the last known address', async () => {
      const { set, clock, verifierWith, token } = await startProvider('', usual)
      const verifier = verifierWith()
      await verifier.verify(token())
      set((issuer, origin) => ({ ...withoutMetadata(issuer, origin), '/keys': { keys: [SECOND] } }))
      clock.advance(31_000)
      await expect(verifier.verify(token('k2'))).resolves.toMatchObject({ accountId: 'u' })
      expect(await refusalOf(verifier.verify(token()))).toMatchObject({ code: 'unavailable' })
    })

    it('keeps the cached keys when the new address does not respond, and asks the new address again', async () => {
      const { asked, set, clock, verifierWith, token } = await startProvider('', usual)
      const verifier = verifierWith()
      await verifier.verify(token())
      const withoutKeys = (issuer: string, origin: string) => ({ ...moved(issuer, origin), '/moved': undefined })
      set(withoutKeys)
      clock.advance(31_000)
      expect(await refusalOf(verifier.verify(token('k2')))).toMatchObject({ code: 'unavailable' })
      await expect(verifier.verify(token())).resolves.toMatchObject({ accountId: 'u' })
      set((issuer, origin) => ({ ...moved(issuer, origin), [OPENID]: undefined }))
      clock.advance(31_000)
      await expect(verifier.verify(token('k2'))).resolves.toMatchObject({ accountId: 'u' })
      expect(asked).toEqual([OPENID, '/keys', OPENID, '/moved', OPENID, OAUTH, '/moved'])
    })
  })

  it.each<[string, (issuer: string, origin: string) => unknown, RegExp]>([
    [
      'of another issuer',
      (_, o) => ({ issuer: 'https://evil.example', jwks_uri: `${o}/keys` }),
      /is from a different issuer$/,
    ],
    [
      'of an issuer with a slash',
      (i, o) => ({ issuer: `${i}/`, jwks_uri: `${o}/keys` }),
      /differs only by a trailing slash$/,
    ],
    ['without an issuer', (_, o) => ({ jwks_uri: `${o}/keys` }), /is from a different issuer$/],
    ['with a list of issuers', (i, o) => ({ issuer: [i], jwks_uri: `${o}/keys` }), /is from a different issuer$/],
    ['without a jwks_uri', (issuer) => ({ issuer }), /has no "jwks_uri"$/],
    ['with a path as jwks_uri', (issuer) => ({ issuer, jwks_uri: '/keys' }), /has no "jwks_uri"$/],
    ['with a number as jwks_uri', (issuer) => ({ issuer, jwks_uri: 7 }), /has no "jwks_uri"$/],
    ['with a list as jwks_uri', (issuer, o) => ({ issuer, jwks_uri: [`${o}/keys`] }), /has no "jwks_uri"$/],
    ['with keys over http', (issuer) => ({ issuer, jwks_uri: 'http://10.0.0.1/keys' }), /is not an https: URL$/],
    ['with keys in a file', (issuer) => ({ issuer, jwks_uri: 'file:///etc/keys' }), /is not an https: URL$/],
    ['with a user name', (issuer) => ({ issuer, jwks_uri: 'https://a@example.com/' }), /is not an https: URL$/],
    ['with a password', (issuer) => ({ issuer, jwks_uri: 'https://:b@example.com/' }), /is not an https: URL$/],
    ['that is a page', () => '<html>', /is not a JSON object$/],
    ['that is a list', () => [], /is not a JSON object$/],
    ['that is too long', (issuer) => ({ issuer, filler: 'x'.repeat(102_400) }), /is longer than 102400 bytes$/],
    [
      'behind a redirect',
      () => (_req: IncomingMessage, res: ServerResponse) => void res.writeHead(302, { Location: '/keys' }).end(),
      /the status was 302, not 200$/,
    ],
  ])('refuses metadata %s', async (_what, metadata, says) => {
    const documents = (issuer: string, origin: string) => ({ [OPENID]: metadata(issuer, origin), '/keys': SET })
    const { asked, verifierWith, token, errors, issuer } = await startProvider('', documents)
    const error = await refusalOf(verifierWith().verify(token()))
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'keys', issuer })
    const [first = '', second] = (errors[0] ?? '').split(`. ${issuer}${OAUTH}: `)
    expect(first).toMatch(`discoverKeys: no keys from ${issuer}: no metadata. ${issuer}${OPENID}: `)
    expect(first).toMatch(says)
    expect(second).toBe('the status was 404, not 200')
    expect(asked).not.toContain('/keys')
  })

  it.each([
    ['https://a.example', 'http://127.0.0.1/keys', /is not an https: URL/],
    ['https://a.example', 'http://localhost/keys', /is not an https: URL/],
    ['http://localhost', 'https://a.example/keys', /^$/],
  ])('refuses keys on loopback, except of an issuer on loopback: %s, %s', async (issuer, address, says) => {
    const errors: string[] = []
    const fetch: KeysFetch = async (url) => {
      const { pathname } = new URL(url)
      return pathname === OPENID ? Response.json({ issuer, jwks_uri: address }) : Response.json(SET)
    }
    const keys = discoverKeys(issuer, { fetch, onError: ({ message }) => errors.push(message) })
    const verifier = createTokenVerifier({ issuer, audience: AUDIENCE, accept: 'jwt', keys })
    await refusalOf(verifier.verify(forge({ alg: 'RS256', kid: 'k1' }, {}, privateKey, 'RS256')))
    expect(errors.join()).toMatch(says)
  })

  it.each([
    ['http://tenant.example', 'Over http, others on the network could insert their own key. Use https'],
    ['tenant.example', 'Is "https://" missing?'],
    ['https://tenant.example?a=1', 'an absolute http or https URL without query and fragment'],
    ['https://a:b@tenant.example', 'an absolute http or https URL without query and fragment'],
    [undefined, 'Is an environment variable not set?'],
    ['http://tenant.example', "without query and fragment, like 'https://api.example.com', but is"],
  ])('refuses the issuer %s', (issuer, says) => {
    expectMisuse(
      () => discoverKeys(issuer),
      new RegExp(`^discoverKeys: the issuer must be .*${says.replaceAll('?', '\\?')}`),
    )
  })

  it('has the options of remoteKeys', () => {
    const read = (options: object) => () => discoverKeys('https://tenant.example', options)
    expectMisuse(read({ cooldown: '6m' }), 'discoverKeys: option "cooldown" must be at most half of "maxAge"')
    expectMisuse(read({ keepFor: '5m' }), 'discoverKeys: option "keepFor" must be at least "maxAge"')
    expectMisuse(read({ ttl: 1 }), 'discoverKeys: unknown option "ttl". Did you mean "maxAge"?')
    expectMisuse(read({ fetch: 'undici' }), 'discoverKeys: option "fetch" must be a function like fetch')
  })
})

describe('the option fetch', () => {
  const issuer = 'https://tenant.example'

  /** Asks a verifier whose keys a function of the host fetches. Returns the message of the failure, if there is one. */
  async function askWith(fetch: KeysFetch, options: RemoteKeysOptions = {}) {
    const errors: string[] = []
    const onError = ({ message }: Error) => errors.push(message)
    const keys = discoverKeys(issuer, { fetch, onError, ...options })
    const verifier = createTokenVerifier({ issuer, audience: AUDIENCE, accept: 'jwt', keys })
    const iat = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, aud: AUDIENCE, sub: 'u', azp: 'c', iat, exp: iat + 300 }
    const verified = verifier.verify(forge({ alg: 'RS256', kid: 'k1' }, claims, privateKey, 'RS256'))
    return { verified: await verified.catch((error) => error.code), errors }
  }

  const SET_URL = 'https://keys.example/set'
  const metadata = { issuer, jwks_uri: `${SET_URL}#first` }
  const bodyOf = (url: string) => JSON.stringify(url === SET_URL ? SET : metadata)
  const bodyWith = (next: () => unknown, end?: () => unknown) => ({
    [Symbol.asyncIterator]: () => ({ next, ...(end && { return: end }) }),
  })
  const chunksOf = (...chunks: unknown[]) => {
    const left = chunks.values()
    return bodyWith(async () => left.next())
  }
  const respond = (url: string, changes: object = {}) =>
    ({ status: 200, headers: new Headers(), body: chunksOf(Buffer.from(bodyOf(url))), ...changes }) as never

  it('fetches the metadata and the keys, with a signal and without redirects', async () => {
    const fetch = vi.fn<KeysFetch>(async (url) => respond(url))
    expect(await askWith(fetch)).toMatchObject({ verified: { accountId: 'u' }, errors: [] })
    expect(fetch.mock.calls.map(([url]) => url)).toEqual([issuer + OPENID, SET_URL])
    for (const [, init] of fetch.mock.calls) {
      expect(init).toEqual({ signal: expect.any(AbortSignal), redirect: 'manual', headers: expect.any(Object) })
    }
  })

  const never = () => new Promise<never>(() => {})
  const unreadable = (name: string) => Object.defineProperty(new Error('x'), name, { get: () => expect.fail(name) })
  it.each<[string, (url: string) => unknown, string]>([
    ['never responds', never, 'no result within 30 ms'],
    [
      'responds with a body that never ends',
      (url) => respond(url, { body: bodyWith(never) }),
      'no result within 30 ms',
    ],
    ['fails', () => Promise.reject(new Error('proxy down')), 'proxy down'],
    [
      'throws',
      () => {
        throw new Error('no proxy')
      },
      'no proxy',
    ],
    ['rejects with a message that throws', () => Promise.reject(unreadable('message')), 'it failed'],
    ['rejects with a cause that throws', () => Promise.reject(unreadable('cause')), 'it failed'],
    ['returns nothing', () => undefined, 'Cannot read properties of undefined'],
    ['follows a redirect', (url) => respond(url, { redirected: true }), 'the response is from a different URL'],
    [
      'asks another URL',
      (url) => respond(url, { url: 'https://evil.example/' }),
      'the response is from a different URL',
    ],
    [
      'responds with a compressed body',
      (url) => respond(url, { headers: new Headers({ 'Content-Encoding': 'gzip' }) }),
      'the response is compressed',
    ],
    [
      'responds with too much',
      (url) => respond(url, { body: chunksOf(Buffer.alloc(102_401)) }),
      'is longer than 102400 bytes',
    ],
    ['responds with text', (url) => respond(url, { body: chunksOf('{}') }), 'the body is not bytes'],
  ])('keeps the limits when the function %s', async (_what, fetch, says) => {
    const { verified, errors } = await askWith(async (url) => fetch(url) as never, { timeout: '30ms' })
    expect(verified).toBe('unavailable')
    expect(errors[0]).toContain(says)
  })

  describe('that never settles', () => {
    const TOO_MANY = 'too many calls of fetch have not settled. Reject them when "signal" aborts'
    const URL = SET_URL

    /** Creates fetchers in a new copy of the module, which has counted nothing. `pending` are the functions that settle the calls. */
    async function hangingFetchers(count: number, call: (wait: () => Promise<void>) => Promise<unknown>) {
      vi.resetModules()
      const { textFetcher } = await import('../../../../src/tokens/keys/fetch-text.js')
      const pending: (() => void)[] = []
      const wait = () => new Promise<void>((resolve) => void pending.push(resolve))
      const fetcherOf = (fetch: KeysFetch, timeout: number) => textFetcher({ timeout, sizeLimit: 9000, fetch })
      const fetchers = Array.from({ length: count }, () => fetcherOf(async () => call(wait) as never, 1))
      const settle = () => {
        for (const resolve of pending.splice(0)) resolve()
        return settled()
      }
      return { fetchers, pending, settle, working: fetcherOf(async (url) => respond(url), 5000) }
    }
    const reasonOf = (result: Promise<string>) => result.catch(({ message }) => message)
    const late = (wait: () => Promise<void>) => wait().then(() => respond(URL))
    async function hangingBody(wait: () => Promise<void>) {
      return respond(URL, { body: bodyWith(() => wait().then(() => ({ done: true }))) })
    }

    it.each([
      ['calls', late],
      ['bodies', hangingBody],
    ])('has at most 8 %s under way, until they settle', async (_what, call) => {
      const { fetchers, pending, settle } = await hangingFetchers(1, call)
      const [fetchText] = fetchers as [(url: string) => Promise<string>]
      for (let round = 0; round < 2; round++) {
        for (let i = 0; i < 8; i++) expect(await reasonOf(fetchText(URL))).toBe('no result within 1 ms')
        expect(await reasonOf(fetchText(URL))).toBe(TOO_MANY)
        expect(pending).toHaveLength(8)
        await settle()
      }
    })

    it('has at most 256 calls of all sources under way, until they settle', async () => {
      // A source has at most as many calls as are still free, so 32 sources do not use up all of them.
      const { fetchers, pending, settle, working } = await hangingFetchers(36, late)
      expect(await reasonOf(working(URL))).toContain('"keys"')
      await Promise.all(fetchers.flatMap((fetchText) => Array.from({ length: 8 }, () => reasonOf(fetchText(URL)))))
      expect(pending).toHaveLength(256)
      expect(await reasonOf(working(URL))).toBe(TOO_MANY)
      await settle()
      expect(await reasonOf(working(URL))).toContain('"keys"')
    })
  })

  it('ends a body of empty chunks', async () => {
    const ended = vi.fn()
    const body = bodyWith(async () => ({ value: Buffer.alloc(0) }), ended)
    const { errors } = await askWith(async (url) => respond(url, { body }), { sizeLimit: 100 })
    expect(errors[0]).toContain('is longer than 100 bytes')
    expect(ended).toHaveBeenCalled()
  })

  it.each(['before', 'after'])('stops reading a body that begins %s the time is over', async (moment) => {
    const ended = vi.fn(async () => ({}))
    const begins = deferred<void>()
    if (moment === 'before') begins.resolve()
    const body = bodyWith(never, ended)
    await askWith((url) => begins.promise.then(() => respond(url, { body })), { timeout: '20ms' })
    begins.resolve()
    await until(() => expect(ended).toHaveBeenCalledTimes(2))
  })
})
