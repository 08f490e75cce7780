// Tests tokens/keys/remote-keys-options.ts tokens/algorithms/new-key-pair.ts

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import {
  type Algorithm,
  type AuthError,
  createTokenIssuer,
  createTokenVerifier,
  type RemoteKeysOptions,
  remoteKeys,
  type TokenIssuer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newKeyPair } from '../../../../src/tokens/algorithms/new-key-pair.js'
import { settled, tally, until } from '../../../support/concurrency.js'
import { expectInvalidToken, expectMisuse, refusalOf } from '../../../support/failures.js'
import { cachedOf, frozenClock, ISSUER, makeIssuer, signingKey } from '../../../support/fixtures.js'
import { unhandledRejections } from '../../../support/host.js'
import { answering, foreignUrl, startSource } from '../../../support/jwks-source.js'
import { someToken } from '../../../support/tokens.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const COOLDOWN = 30 * SECOND
const MAX_AGE = 10 * MINUTE

/** Creates a clock, issuers, and a verifier with a source of keys. By default, the source serves the set of the first issuer. */
async function follow(options: RemoteKeysOptions & { serves?: unknown; query?: string } = {}) {
  const { serves, query = '', ...rest } = options
  const clock = frozenClock()
  const issuerOf = (name: string, alg: Algorithm = 'ES256', kid?: string) =>
    createTokenIssuer({
      issuer: ISSUER,
      keys: { ...signingKey(alg, name), ...(kid && { kid }) },
      lifetime: '30 days',
      clock,
    })
  const [one, two] = [issuerOf('one'), issuerOf('two')]
  const source = await startSource(serves ?? one.jwks())
  const errors: Error[] = []
  const keys = remoteKeys(source.url + query, { clock, onError: (error) => errors.push(error), ...rest })
  const verifier = createTokenVerifier({ issuer: ISSUER, keys, clock })
  return {
    clock,
    issuerOf,
    one,
    two,
    source,
    errors,
    keys,
    verifier,
    /** Verifies a new token, which the cache does not hold, by a key that the source has or had. */
    passes: async (issuer: TokenIssuer) =>
      expect(await verifier.verify(someToken(issuer))).toMatchObject({ accountId: 'acc-1' }),
    unknown: (issuer: TokenIssuer) => expectInvalidToken(verifier.verify(someToken(issuer)), 'unknown_key'),
    unavailable: async (issuer: TokenIssuer) => {
      const error = await refusalOf(verifier.verify(someToken(issuer)))
      expect(error).toMatchObject({ code: 'unavailable', status: 503, dependency: 'keys', cause: errors.at(-1) })
      return error
    },
  }
}

const setOf = (...issuers: TokenIssuer[]) => ({ keys: issuers.flatMap((issuer) => issuer.jwks().keys) })

describe('remote keys', () => {
  it('are fetched when the first token comes that a key could save, and then held', async () => {
    const { source, passes, one, keys, verifier } = await follow()
    expect(keys).toEqual({
      url: source.url,
      find: expect.any(Function),
      all: expect.any(Function),
      renew: expect.any(Function),
    })
    for (const token of ['', 'x', 'a.b.c']) await expectInvalidToken(verifier.verify(token), 'malformed')
    expect(source.requests()).toBe(0)
    for (let i = 0; i < 10; i++) await passes(one)
    expect(source.requests()).toBe(1)
  })

  // RFC 8037 section 2, RFC 9864 section 2.2, RFC 7517 section 5.
  it.each([
    ['verify by an Ed25519 key', { alg: 'Ed25519' }, true],
    ['verify by an Ed25519 key without an alg', { alg: undefined }, true],
    ['verify by an Ed25519 key with the old alg EdDSA', { alg: 'EdDSA' }, true],
    ['skip an Ed25519 key with the alg of another kind', { alg: 'ES256' }, false],
  ])('%s, in a set with unknown types of keys', async (_, alg, isRead) => {
    const { source, issuerOf, one, passes, unknown } = await follow()
    const ed = issuerOf('one', 'Ed25519')
    const strange = [
      { kty: 'AKP', alg: 'ML-DSA-44', kid: 'pq', pub: 'AAAA' },
      { kty: 'OKP', crv: 'X25519', kid: 'x', x: ed.jwks().keys[0]?.x },
      { kty: 'OKP', crv: 'Ed448', alg: 'Ed448', kid: 'e', x: 'AAAA' },
      { kty: 'new', kid: 'n' },
      null,
    ]
    const published = ed.jwks().keys.map((jwk) => ({ ...jwk, ...alg }))
    source.serve({ keys: [...strange, ...published, ...strange, ...one.jwks().keys] })
    await (isRead ? passes(ed) : unknown(ed))
    await passes(one)
    expect(source.requests()).toBe(1)
  })

  it('are asked for as the set that they are, past shared caches', async () => {
    const { one, source, passes } = await follow()
    const respond = vi.fn(answering(one.jwks()))
    source.serve(respond)
    await passes(one)
    expect(respond).toHaveBeenCalledOnce()
    expect(respond.mock.calls[0]?.[0].headers).toMatchObject({
      accept: 'application/jwk-set+json, application/json',
      'accept-encoding': 'identity',
      'cache-control': 'no-cache',
    })
  })
})

describe('how often the source is asked', () => {
  it('once in a cool-down for keys that are not there, however many tokens name them, so that a new key is found', async () => {
    const { source, clock, passes, one, two, unknown, issuerOf } = await follow()
    await passes(one)
    const garbage = Array.from({ length: 50 }, (_, i) => issuerOf('two', 'ES256', `garbage ${i}`))
    for (const issuer of garbage) await unknown(issuer)
    expect(source.requests()).toBe(1)
    clock.advance(COOLDOWN - 1)
    await unknown(two)
    expect(source.requests()).toBe(1)
    source.serve(setOf(two, one))
    clock.advance(1)
    await Promise.all([...garbage.map(unknown), passes(two)])
    for (const issuer of garbage) await unknown(issuer)
    await passes(one)
    expect(source.requests()).toBe(2)
  })

  it('in the background from half of maxAge on, once, and no token waits', async () => {
    const { source, clock, passes, one, two, verifier } = await follow()
    await passes(one)
    source.serve(setOf(one, two))
    clock.advance(MAX_AGE / 2 - 1)
    await passes(one)
    expect(source.requests()).toBe(1)
    clock.advance(1)
    const release = source.hold()
    for (let i = 0; i < 10; i++) await passes(one)
    const waiting = verifier.verify(someToken(two))
    release()
    expect(await waiting).toMatchObject({ accountId: 'acc-1' })
    expect(source.requests()).toBe(2)
    clock.advance(MAX_AGE / 2 - 1)
    await passes(one)
    expect(source.requests()).toBe(2)
  })

  it('by tokens that the verifier remembers, too', async () => {
    const { source, clock, one, verifier } = await follow()
    const token = someToken(one)
    await verifier.verify(token)
    clock.advance(MAX_AGE / 2)
    expect(cachedOf(verifier, token)).toBeDefined()
    await until(() => expect(source.requests()).toBe(2))
  })

  it('once in a cool-down while it is down', async () => {
    const { source, clock, one, unavailable, errors, passes } = await follow({ serves: answering('down', 500) })
    for (let i = 0; i < 10; i++) await unavailable(one)
    expect(source.requests()).toBe(1)
    clock.advance(COOLDOWN)
    await Promise.all(Array.from({ length: 10 }, () => unavailable(one)))
    expect(source.requests()).toBe(2)
    expect(errors).toHaveLength(2)
    source.serve(one.jwks())
    await unavailable(one)
    clock.advance(COOLDOWN)
    await passes(one)
  })

  it('without the keys of algorithms that are not allowed', async () => {
    const strict = await follow({ algorithms: ['ES384'] })
    await strict.unknown(strict.one)
    const allowing = await follow({ algorithms: ['ES256', 'RS256'] })
    await allowing.passes(allowing.one)
  })

  it('by the options that are set', async () => {
    const { source, clock, passes, one, unknown, two } = await follow({ cooldown: 2, maxAge: '10s', keepFor: '20s' })
    await passes(one)
    clock.advance(2 * SECOND)
    await unknown(two)
    expect(source.requests()).toBe(2)
    clock.advance(10 * SECOND)
    await passes(one)
    expect(source.requests()).toBe(3)
  })

  it('not again when the clock is set back, and then as long after as if it had not been', async () => {
    const { source, clock, passes, unknown, two } = await follow()
    const early = () => createTokenIssuer({ issuer: ISSUER, keys: signingKey('ES256'), clock })
    for (let i = 0; i < 21; i++) {
      await passes(early())
      await unknown(two)
      clock.advance(-MINUTE)
    }
    expect(source.requests()).toBe(1)
    await passes(early())
    clock.advance(COOLDOWN)
    await unknown(two)
    expect(source.requests()).toBe(2)
  })
})

describe('requests that wait for a fetch', () => {
  /** Creates tokens with different key ids. No key is known, so their signatures are never checked. */
  const unknownTo = (issuerOf: (name: string, alg: Algorithm, kid: string) => TokenIssuer) => {
    const [, payload, signature] = someToken(issuerOf('two', 'ES256', 'unknown')).split('.')
    return Array.from({ length: 1100 }, (_, i) => {
      const header = JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: `unknown ${i}` })
      return `${Buffer.from(header).toString('base64url')}.${payload}.${signature}`
    })
  }

  /** Counts how verifications end, while some may still be under way. */
  function watch(verifications: Promise<unknown>[]) {
    const ends: string[] = []
    for (const one of verifications) {
      one.then(
        () => ends.push('verified'),
        (error: AuthError) => ends.push(error.reason ?? String(error.cause)),
      )
    }
    return () => tally(ends)
  }

  it('are at most 1,000 for all verifiers of the keys, and anew for the next fetch; the others are told at once', async () => {
    const { source, keys, clock, verifier, issuerOf, errors, passes, one } = await follow()
    const verifiers = [verifier, createTokenVerifier({ issuer: ISSUER, keys, clock })]
    const tokens = unknownTo(issuerOf)
    const crowded = expect.stringMatching(
      /^Error: remoteKeys: 1000 requests already wait for http:\/\/127\.0\.0\.1:\d+\/jwks\.json$/,
    )
    for (let fetches = 1; fetches <= 2; fetches++) {
      const release = source.hold()
      const all = tokens.map((token, i) => verifiers[i % 2]?.verify(token) as Promise<unknown>)
      const ends = watch(all)
      const ended = Promise.allSettled(all)
      await until(() => expect(Object.entries(ends())).toEqual([[crowded, 100]]))
      const late = await refusalOf(verifier.verify(someToken(issuerOf('two', 'ES256', 'late'))))
      expect(late).toMatchObject({ code: 'unavailable', status: 503, dependency: 'keys' })
      release()
      await ended
      expect(ends()).toMatchObject({ unknown_key: 1000 })
      expect([source.requests(), errors.length]).toEqual([fetches, 0])
      clock.advance(COOLDOWN)
    }
    await passes(one)
  })
})

describe('a key that was taken out', () => {
  it('is forgotten with the tokens that it had verified', async () => {
    const { source, clock, one, two, verifier } = await follow()
    source.serve(setOf(one, two))
    const [gone, stays] = [someToken(one), someToken(two)]
    for (const token of [gone, stays]) await verifier.verify(token)
    source.serve(two.jwks())
    clock.advance(COOLDOWN)
    await expectInvalidToken(verifier.verify(someToken(makeIssuerOf('three', clock))), 'unknown_key')
    expect(cachedOf(verifier, gone)).toBeUndefined()
    await expectInvalidToken(verifier.verify(gone), 'unknown_key')
    expect(cachedOf(verifier, stays)).toBeDefined()
  })

  it('is out by maxAge where nobody has asked before', async () => {
    const { source, clock, one, two, verifier, passes } = await follow()
    const token = someToken(one)
    await verifier.verify(token)
    source.serve(two.jwks())
    clock.advance(MAX_AGE - 1)
    const release = source.hold()
    expect(cachedOf(verifier, token)).toBeDefined()
    clock.advance(1)
    // The previous fetch has not ended yet, so the result is unknown.
    expect(cachedOf(verifier, token)).toBeUndefined()
    const asked = verifier.verify(token)
    release()
    await expectInvalidToken(asked, 'unknown_key')
    await passes(two)
    expect(source.requests()).toBe(2)
  })

  it('is out though the set is empty now', async () => {
    const { source, clock, one, passes, unknown, errors } = await follow()
    await passes(one)
    source.serve({ keys: [] })
    clock.advance(MAX_AGE)
    await unknown(one)
    expect(errors.map(String)).toEqual([expect.stringMatching(/127\.0\.0\.1:\d+\/jwks\.json has no usable key/)])
  })
})

const makeIssuerOf = (name: string, clock: () => number) =>
  createTokenIssuer({ issuer: ISSUER, keys: signingKey('ES256', name), clock, lifetime: '30 days' })

describe('a key that stays', () => {
  it('keeps its verified tokens through every fetch, in whatever order and spelling the set is', async () => {
    const { source, clock, one, two, verifier } = await follow()
    const token = someToken(one)
    const first = await verifier.verify(token)
    const [jwk] = one.jwks().keys
    const respelt = Object.fromEntries(Object.entries({ ...jwk, extra: 1 }).toReversed())
    for (const keys of [[jwk], [...two.jwks().keys, respelt], [respelt]]) {
      source.serve({ keys })
      clock.advance(MAX_AGE)
      expect(await verifier.verify(token)).not.toBe(undefined)
      await verifier.verify(someToken(one))
      expect(cachedOf(verifier, token)).toBeDefined()
    }
    expect(await verifier.verify(token)).toEqual(first)
  })

  it.each([
    ['of another key', 'ES256', 'ES256', 'signature'],
    ['of another algorithm', 'RS256', 'PS256', 'algorithm'],
  ] as const)('in name only, and is %s, takes its tokens along', async (_, before, after, reason) => {
    const { source, clock, issuerOf, two, verifier, unknown } = await follow()
    const [old, replaced] = [issuerOf('one', before, 'k1'), issuerOf(before === after ? 'two' : 'one', after, 'k1')]
    source.serve(old.jwks())
    const token = someToken(old)
    await verifier.verify(token)
    source.serve(replaced.jwks())
    clock.advance(COOLDOWN)
    await unknown(two)
    expect(cachedOf(verifier, token)).toBeUndefined()
    await expectInvalidToken(verifier.verify(token), reason)
  })
})

describe('a source that is down', () => {
  it('has its keys used for keepFor, and no longer; and comes back by itself', async () => {
    const { source, clock, one, verifier, passes, unavailable, errors } = await follow()
    const token = someToken(one)
    await verifier.verify(token)
    await source.stop()
    for (let age = MINUTE; age < HOUR; age += MINUTE) {
      clock.advance(MINUTE)
      await passes(one)
      expect(cachedOf(verifier, token)).toBeDefined()
    }
    await until(() => expect(errors.length).toBeGreaterThan(1))
    clock.advance(MINUTE - 1)
    await passes(one)
    clock.advance(1)
    expect(cachedOf(verifier, token)).toBeUndefined()
    await unavailable(one)
    await source.restart()
    await unavailable(one)
    clock.advance(COOLDOWN)
    await passes(one)
    expect(await verifier.verify(token)).toMatchObject({ accountId: 'acc-1' })
  })

  it('is 503 for a key that is not held, since it may have been put in meanwhile; the others go on', async () => {
    const { source, clock, one, two, passes, unavailable, unknown } = await follow()
    await passes(one)
    await unknown(two)
    source.serve(answering('down', 503))
    clock.advance(COOLDOWN)
    await unavailable(two)
    await passes(one)
    source.serve(one.jwks())
    clock.advance(COOLDOWN)
    await unknown(two)
  })

  it('does not excuse a token that its held key refuses', async () => {
    const { source, clock, one, passes, issuerOf, verifier, errors } = await follow()
    await passes(one)
    source.serve(answering('down', 503))
    clock.advance(MAX_AGE)
    const forged = issuerOf('two', 'ES256', one.jwks().keys[0]?.kid)
    await expectInvalidToken(verifier.verify(someToken(forged)), 'signature')
    expect(errors).toHaveLength(1)
  })

  it('is 503 while nothing is held', async () => {
    const { source, one, unavailable } = await follow()
    await source.stop()
    const { cause } = await unavailable(one)
    expect(String(cause)).toMatch(
      /^Error: remoteKeys: no keys from http:\/\/127\.0\.0\.1:\d+\/jwks\.json: fetch failed \(ECONNREFUSED\)$/,
    )
    expect((cause as Error).cause).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNREFUSED' } })
  })
})

/** Writes part of a response and then hangs. */
const hangingAfter =
  (text: string): RequestListener =>
  (_req, res) =>
    void res.writeHead(200).write(text)

const endless: RequestListener = (_req, res) => {
  const more = () => {
    while (!res.destroyed && res.write('[[[[[[[['.repeat(1024)));
  }
  res.writeHead(200).on('drain', more)
  more()
}

describe('an answer that is no JWK set', () => {
  const good = () => makeIssuer({ keys: signingKey('ES256', 'two') }).jwks()
  const zipped: RequestListener = (_req, res) =>
    void res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('{"keys":[]}'))
  const nothing: RequestListener = (_req, res) => {
    const block = Buffer.concat(Array(1000).fill(gzipSync('')))
    const more = () => {
      while (!res.destroyed && res.write(block));
    }
    res.writeHead(200, { 'Content-Encoding': 'gzip' }).on('drain', more)
    more()
  }
  const to = (location: string) =>
    ((_req, res) => void res.writeHead(302, { location }).end()) satisfies RequestListener

  it.each([
    ['not found', answering(good(), 404), 'the status was 404, not 200'],
    ['a failure', answering(good(), 500), 'the status was 500, not 200'],
    ['another success', answering(good(), 203), 'the status was 203, not 200'],
    ['no content', answering('', 204), 'the status was 204, not 200'],
    ['empty', answering(''), 'the response is not JSON'],
    ['HTML', answering('<html>secret</html>'), 'the response is not JSON'],
    ['cut JSON', answering(JSON.stringify(good()).slice(0, -1)), 'the response is not JSON'],
    ['two JSON values', answering('{"keys":[]}{"keys":[]}'), 'the response is not JSON'],
    ['null', answering('null'), 'the response is not a JWK set'],
    ['a list', answering(good().keys), 'the response is not a JWK set'],
    ['one key', answering(good().keys[0]), 'the response is not a JWK set'],
    ['keys by name', answering({ keys: { 0: good().keys[0] } }), 'the response is not a JWK set'],
    [
      'not UTF-8',
      (_req, res) => void res.end(Buffer.from('{"keys":[],"x":"\xff"}', 'latin1')),
      'The encoded data was not valid for encoding utf-8',
    ],
    ['too long', answering(`{"keys":[]}${' '.repeat(102_400)}`), 'the response is longer than 102400 bytes'],
    ['compressed', zipped, 'the response is compressed'],
    ['of compressed nothing, without end', nothing, 'the response is compressed'],
    ['endless', endless, 'the response is longer than 102400 bytes'],
    ['cut off', (_req, res) => void res.writeHead(200).write('{', () => res.destroy()), 'terminated (UND_ERR_SOCKET)'],
    ['never begun', () => {}, 'no result within 1000 ms'],
    ['never ended', hangingAfter('{"keys":'), 'no result within 1000 ms'],
  ] satisfies [string, RequestListener, string][])('leaves the keys as they were: %s', async (_, answer, reason) => {
    const slow = reason.startsWith('no result')
    const { source, clock, one, two, passes, unavailable, errors } = await follow({ timeout: slow ? '1s' : '30s' })
    await passes(one)
    source.serve(answer)
    clock.advance(COOLDOWN)
    const { cause } = await unavailable(two)
    expect(String(cause)).toBe(`Error: remoteKeys: no keys from ${source.url}: ${reason}`)
    expect(inspect(cause, { depth: 9 })).not.toMatch(/secret|html/)
    await passes(one)
    expect(errors).toHaveLength(1)
  })

  it('is one without a body too, which a custom fetch may return', async () => {
    const { one, unavailable } = await follow()
    const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(null))
    onTestFinished(() => fetched.mockRestore())
    expect(String((await unavailable(one)).cause)).toMatch(/: the response is not JSON$/)
  })

  it.each([301, 302, 303, 307, 308])('is not looked for elsewhere: %i', async (status) => {
    const { source, one, unavailable, errors } = await follow()
    const elsewhere = await startSource(one.jwks())
    source.serve(((_req, res) => void res.writeHead(status, { location: elsewhere.url }).end()) as RequestListener)
    await unavailable(one)
    expect(errors.map(String)).toEqual([expect.stringContaining(`the status was ${status}, not 200`)])
    source.serve(to('/'))
    expect([source.requests(), elsewhere.requests()]).toEqual([1, 0])
  })

  it('may be as long as the limit, and no byte longer', async () => {
    const text = JSON.stringify(good())
    for (const [length, fits] of [
      [text.length, true],
      [text.length + 1, false],
    ] as const) {
      const { two, passes, unavailable } = await follow({
        serves: answering(text.padEnd(length)),
        sizeLimit: text.length,
      })
      await (fits ? passes(two) : unavailable(two))
    }
  })

  it('has its connection closed', async () => {
    for (const answer of [endless, hangingAfter('{'), (() => {}) as RequestListener]) {
      const closed = vi.fn()
      const { one, unavailable } = await follow({
        timeout: '50ms',
        serves: ((req: IncomingMessage, res: ServerResponse) => {
          res.once('close', closed)
          answer(req, res)
        }) as RequestListener,
      })
      await unavailable(one)
      await until(() => expect(closed).toHaveBeenCalledOnce())
    }
  })
})

describe('a failure', () => {
  it('is told with the address, but for its query', async () => {
    const { one, unavailable, source, keys } = await follow({ serves: answering('', 500), query: '?code=secret' })
    const { cause } = await unavailable(one)
    expect((cause as Error).message).toContain(source.url)
    expect(inspect([cause, keys], { depth: 9 })).not.toContain('secret')
  })

  it('is told without a reason when a custom fetch rejects with something that is no error', async () => {
    const { one, unavailable, source } = await follow()
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue('down')
    onTestFinished(() => fetched.mockRestore())
    const { cause } = await unavailable(one)
    expect(cause).toMatchObject({ message: `remoteKeys: no keys from ${source.url}: it failed`, cause: 'down' })
  })

  it('of which nobody waits for the answer is told too, also when what was thrown is not readable', async () => {
    const unhandled = unhandledRejections()
    const { clock, one, passes, errors } = await follow()
    await passes(one)
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => {
      throw Object.defineProperty(new Error('x'), 'message', { get: () => expect.fail('message') })
    })
    onTestFinished(() => fetched.mockRestore())
    clock.advance(MAX_AGE / 2)
    await passes(one)
    await until(() => expect(errors).toHaveLength(1))
    await settled()
    expect(unhandled).toEqual([])
  })

  it.each([
    ['throws', () => expect.fail('observer')],
    ['rejects', () => Promise.reject(new Error('observer'))],
  ])('goes on when onError %s', async (_, onError) => {
    const unhandled = unhandledRejections()
    const { source, clock, one, passes, verifier } = await follow({ onError })
    await passes(one)
    source.serve(answering('', 500))
    clock.advance(HOUR)
    const { cause } = await refusalOf(verifier.verify(someToken(one)))
    expect(cause).toMatchObject({ message: expect.stringContaining('500') })
    await settled()
    expect(unhandled).toEqual([])
  })

  it('is a warning of the process, once, where nobody is told', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const { clock, one, verifier, source } = await follow({ serves: answering('', 500), onError: undefined })
    for (let i = 0; i < 3; i++) {
      await refusalOf(verifier.verify(someToken(one)))
      clock.advance(COOLDOWN)
    }
    expect(source.requests()).toBe(3)
    const message = `remoteKeys: no keys from ${source.url}: the status was 500, not 200. Set onError to receive every failure`
    expect(warn.mock.calls).toEqual([[message, 'ExpressTokenEndpointWarning']])
  })

  it('leaves no timer behind, and neither does a success', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const clear = vi.spyOn(globalThis, 'clearTimeout')
    onTestFinished(() => [set, clear].forEach((spy) => void spy.mockRestore()))
    for (const serves of [undefined, answering('', 500)]) {
      const { one, verifier } = await follow({ serves, timeout: '54321ms' })
      await Promise.allSettled([verifier.verify(someToken(one))])
    }
    const timers = set.mock.results.filter((_, i) => set.mock.calls[i]?.[1] === 54_321).map(({ value }) => value)
    expect(timers).toHaveLength(2)
    for (const timer of timers) expect(clear).toHaveBeenCalledWith(timer)
  })
})

describe('where remote keys may be', () => {
  it.each([
    'https://api.example.com/.well-known/jwks.json',
    'HTTPS://API.EXAMPLE.COM/jwks?p=1',
    new URL('https://api.example.com/jwks'),
    foreignUrl('https://api.example.com/jwks'),
    'http://LOCALHOST:3000/jwks',
    'http://2130706433/jwks',
  ])('%s', (url) => {
    const parsed = new URL(url)
    expect(remoteKeys(url).url).toBe(parsed.origin + parsed.pathname)
  })

  it.each<[unknown, string]>([
    ['http://api.example.com', 'http only for this machine'],
    ['http://localhost@example.com', 'http only for this machine'],
    [new URL('http://example.com/'), 'http only for this machine'],
    ['https://user:geheim@api.example.com/jwks', 'without a user name, password'],
    ['https://geheim@api.example.com/jwks', 'without a user name, password'],
    ['https://api.example.com/jwks#geheim', 'fragment'],
    ['api.example.com/jwks', 'Is "https://" missing\\?'],
    ['/jwks', 'an absolute https: URL'],
    ['', 'is an empty string'],
    ['file:///etc/passwd', 'an absolute https: URL'],
    [undefined, 'is missing. Is an environment variable not set\\?'],
    [null, 'is null'],
    [{ href: 'https://api.example.com' }, 'is an object'],
  ])('not %s', (url, says) => {
    expectMisuse(() => remoteKeys(url as string), new RegExp(`^remoteKeys: the URL must be .*${says}`), ['geheim'])
  })

  it('is not changed later', async () => {
    const { source, one } = await follow()
    const url = new URL(source.url)
    const keys = remoteKeys(url)
    url.href = 'https://example.invalid/'
    const verifier = createTokenVerifier({ issuer: ISSUER, keys, clock: frozenClock() })
    expect(await verifier.verify(someToken(one))).toMatchObject({ accountId: 'acc-1' })
  })
})

describe('misuse', () => {
  const URL_ = 'https://api.example.com/jwks'

  it.each([
    [{ cooldown: 0 }, /option "cooldown" must be .* from 1 second to 1 hour/],
    [{ maxAge: '25h' }, /option "maxAge" must be .* from 2 seconds to 1 day/],
    [{ keepFor: '31 days' }, /option "keepFor" must be .* to 30 days/],
    [{ timeout: '2m' }, /option "timeout" must be/],
    [{ timeout: 5000 }, /Did you pass milliseconds\?/],
    [{ algorithms: [] }, /option "algorithms" must be a non-empty array of RS256, .*ES512/],
    [{ algorithms: ['HS256'] }, /option "algorithms" must be/],
    [{ algorithms: ['ES256', 'HS256'] }, /option "algorithms" must be/],
    [{ algorithms: ['none'] }, /option "algorithms" must be/],
    [{ algorithms: [['ES256']] }, /option "algorithms" must be/],
    [{ algorithms: 'ES256' }, /option "algorithms" must be/],
    [{ sizeLimit: 0 }, /option "sizeLimit" must be a number of bytes, a whole number from 1 to 10485760/],
    [{ sizeLimit: '100kb' }, /option "sizeLimit" must be/],
    [{ onError: 'log' }, /option "onError" must be a function/],
    [{ clock: 5 }, /option "clock" must be/],
    [{ maxAge: '30s' }, /option "cooldown" must be at most half of "maxAge"/],
    [{ cooldown: '6m' }, /option "cooldown" must be at most half of "maxAge"/],
    [{ maxAge: '2h' }, /option "keepFor" must be at least "maxAge"/],
    [{ keepFor: '9m' }, /option "keepFor" must be at least "maxAge"/],
    [[], /expected an options object, got an empty array/],
  ])('of the options: %j', (options, says) => {
    expectMisuse(() => remoteKeys(URL_, options as never), says)
  })

  const MEANT = {
    algorithms: 'algorithm',
    sizeLimit: 'size_limit',
    cooldown: 'cooldownDuration coolDown',
    maxAge: 'ttl',
    onError: 'onEvent',
  }
  it.each(Object.entries(MEANT))('of the options: %s is meant by the names of other packages %s', (meant, names) => {
    for (const name of names.split(' ')) {
      const says = `remoteKeys: unknown option "${name}". Did you mean "${meant}"?`
      expectMisuse(() => remoteKeys(URL_, { [name]: 1 }), says)
    }
  })

  it('leaves room for the bounds themselves', () => {
    expect(() => remoteKeys(URL_, { cooldown: '5m', maxAge: '10m', keepFor: '10m' })).not.toThrow()
  })
})

describe('keys that are here', () => {
  it('are asked for nothing: an unknown one is refused at once', async () => {
    const { publicKey } = newKeyPair('ec', { namedCurve: 'P-256' })
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'ES256', publicKey } })
    const token = someToken(makeIssuer())
    await expectInvalidToken(verifier.verify(token), 'unknown_key')
  })
})
