import express from 'express'
import { createTokenVerifier, requireBearer, type TokenVerifier } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import {
  ACCOUNTS,
  forge,
  frozenClock,
  goodParts,
  ISSUER,
  issueNow,
  makeIssuer,
  SECRET,
} from '../../support/fixtures.js'
import { bearer, client, listen } from '../../support/http.js'

/** The account's `tokensValidAfter`: 100 ms after the start of a second. */
const clock = frozenClock('2026-03-01T12:00:00.100Z')
const tokensValidAfter = new Date(clock())
const iat = clock.seconds()
const accounts = { findByEmail: () => undefined, findById: () => ({ ...ACCOUNTS.alice, tokensValidAfter }) }

const tokens = makeIssuer({ clock: () => clock() + 800 })
const issuedAfter = (ms: number) =>
  issueNow(tokens, { accountId: ACCOUNTS.alice.id, issuedAt: new Date(clock() + ms) }).token

/** Returns the status of a guarded request with a token. */
async function statusOf(token: string, verifier: TokenVerifier = tokens): Promise<number> {
  const { port } = await listen(
    express().get('/', requireBearer({ tokens: verifier, accounts }), (_req, res) => void res.end()),
  )
  return (await client(port)(bearer(token, '/'))).status
}

/** Returns a UUID whose first 48 bits are a time after `tokensValidAfter`, in milliseconds. */
function uuidAfter(ms: number, end = '7000-8000-000000000000'): string {
  const time = (clock() + ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${end}`
}
const signed = (payload: object) => forge(goodParts(iat).header, { ...goodParts(iat).payload, ...payload })

describe('in the second in which all tokens of an account are revoked', () => {
  it.each([
    ['is refused when it was issued 100 ms before', -100, 401],
    ['is refused when it was issued 1 ms before', -1, 401],
    ['is accepted when it was issued in the same millisecond', 0, 200],
    ['is accepted when it was issued 200 ms after', 200, 200],
  ])('a token %s', async (_, ms, status) => {
    expect(await statusOf(issuedAfter(ms))).toBe(status)
  })

  it.each([
    ['of our issuer’s form, as a control', { jti: uuidAfter(200) }, 200],
    ['from before', { jti: uuidAfter(-1) }, 401],
    ['of another form', { jti: 'jti-1' }, 401],
    ['of version 4, like those of earlier releases', { jti: uuidAfter(200, '4000-8000-000000000000') }, 401],
    ['of version 6', { jti: uuidAfter(200, '6000-8000-000000000000') }, 401],
    ['with a variant that version 7 does not have', { jti: uuidAfter(200, '7000-c000-000000000000') }, 401],
    ['in upper case', { jti: uuidAfter(200).toUpperCase() }, 401],
    ['as a URN', { jti: `urn:uuid:${uuidAfter(200)}` }, 401],
    ['with a line end', { jti: `${uuidAfter(200)}\n` }, 401],
    ['without hyphens', { jti: uuidAfter(200).replaceAll('-', '') }, 401],
    ['whose time is a second after iat', { jti: uuidAfter(1000) }, 401],
    ['whose time is a year after iat', { jti: uuidAfter(31_536_000_000) }, 401],
    ['whose time is the last moment that it can hold', { jti: 'ffffffff-ffff-7000-8000-000000000000' }, 401],
    ['whose time is a second before iat', { jti: uuidAfter(-1000) }, 401],
  ])('a signed token with a jti %s gets its status', async (_, payload, status) => {
    expect(await statusOf(signed(payload))).toBe(status)
  })

  it('an old token is refused whose jti has a time after its iat', async () => {
    expect(await statusOf(signed({ iat: iat - 60, jti: uuidAfter(200) }))).toBe(401)
  })

  it('a token of an identity provider is refused, whatever its jti is', async () => {
    const keys = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const
    const provider = createTokenVerifier({
      accept: 'jwt',
      issuer: ISSUER,
      audience: ISSUER,
      keys,
      clock: () => clock() + 800,
    })
    expect(await statusOf(signed({ jti: uuidAfter(200) }), provider)).toBe(401)
    expect(
      await statusOf(
        signed({ iat: iat + 1, jti: uuidAfter(200) }),
        createTokenVerifier({
          accept: 'jwt',
          issuer: ISSUER,
          audience: ISSUER,
          keys,
          clock: () => clock() + 1000,
        }),
      ),
    ).toBe(200)
  })
})
