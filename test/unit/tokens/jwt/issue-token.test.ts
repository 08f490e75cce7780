import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectInvalidToken, expectMisuse } from '../../../support/failures.js'
import { decodePayload, ISSUER, issueNow, makeIssuer, SECRET } from '../../../support/fixtures.js'
import { atFrozenMoment, headerOf } from '../../../support/tokens.js'

const { clock, now, issuer } = atFrozenMoment()

const withKid = (kid: string, create = makeIssuer) =>
  create({ clock, keys: { alg: 'HS256', secret: SECRET, kid }, cache: false })
const padded = (pad: number) => ({ accountId: 'acc-1', claims: { pad: 'x'.repeat(pad) } })

/** Finds the key id and the padding of a token of an exact length. A longer key id gives the lengths that base64url skips. */
function ofLength(length: number): { kid: string; pad: number } {
  for (const kid of ['k', 'kk', 'kkk', 'kkkk']) {
    const lengthOf = (pad: number) => issueNow(withKid(kid), padded(pad)).token.length
    const least = Math.floor(((length - lengthOf(0)) * 3) / 4)
    const pad = [least, least + 1, least + 2].find((one) => lengthOf(one) === length)
    if (pad !== undefined) return { kid, pad }
  }
  return expect.fail(`no token has ${length} characters`)
}

const REGISTERED = ['iss', 'aud', 'sub', 'client_id', 'iat', 'nbf', 'exp', 'jti', 'scope']

describe('an issued token', () => {
  it('says in its header that it is an access token, and which key signed it', () => {
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    expect(headerOf(token)).toEqual({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })
  })

  it('carries exactly the claims of RFC 9068 that the issuer knows', () => {
    const { token, id } = issueNow(issuer, { accountId: 'acc-1', scopes: ['reports:read', 'reports:write'] })
    expect(decodePayload(token)).toEqual({
      iss: ISSUER,
      aud: ISSUER,
      sub: 'acc-1',
      client_id: ISSUER,
      iat: now,
      exp: now + 3600,
      jti: id,
      scope: 'reports:read reports:write',
    })
  })

  it.each([
    ['left out', {}],
    ['empty', { scopes: [] }],
    ['undefined', { scopes: undefined, claims: undefined }],
  ])('carries no scope when the scopes are %s', (_, rest) => {
    expect(decodePayload(issueNow(issuer, { accountId: 'acc-1', ...rest }).token)).not.toHaveProperty('scope')
  })

  it('carries the private claims', async () => {
    const names = { toString: 1, constructor: 1, valueOf: 1, hasOwnProperty: 1 }
    const claims = { tenant: 'north', roles: ['clerk'], nested: { deep: { n: 1 } }, nothing: null, ...names }
    const { token } = issueNow(issuer, { accountId: 'acc-1', claims })
    expect(decodePayload(token)).toMatchObject(claims)
    expect((await issuer.verify(token)).claims).toEqual(claims)
  })

  it('carries the client id that is set, and needs no particular one to be verified', async () => {
    const { token } = issueNow(makeIssuer({ clock, clientId: 'clearing-house' }), { accountId: 'acc-1' })
    expect(decodePayload(token)).toMatchObject({ client_id: 'clearing-house' })
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1', claims: {} })
  })

  it.each(['', null, 7, ['clearing-house']])('has no client id but a non-empty text: %j', (clientId) => {
    expectMisuse(() => makeIssuer({ clientId: clientId as string }), 'option "clientId" must be a non-empty string')
  })

  it.each(REGISTERED)('has no %s of a private claim', (name) => {
    const evil = name === 'iat' || name === 'nbf' || name === 'exp' ? now + 9 : 'evil'
    const plain = decodePayload(issueNow(issuer, { accountId: 'acc-1' }).token)
    const { token, id } = issueNow(issuer, { accountId: 'acc-1', claims: { [name]: evil, other: 1 } })
    expect(decodePayload(token)).toEqual({ ...plain, jti: id, other: 1 })
  })

  it('carries the session and the whole second of the sign-in, where it has them', () => {
    const signedInAt = new Date(now * 1000 - 60_500)
    const { token } = issueNow(issuer, { accountId: 'acc-1', sessionId: 'session-1', signedInAt })
    expect(decodePayload(token)).toMatchObject({ sid: 'session-1', auth_time: now - 61 })
    expect(decodePayload(issueNow(issuer, { accountId: 'acc-1' }).token)).not.toHaveProperty('auth_time')
  })

  it('carries the methods of the sign-in, in place of a private claim', () => {
    const subject = { accountId: 'acc-1', claims: { amr: ['hwk'] } }
    expect(decodePayload(issueNow(issuer, { ...subject, amr: ['pwd', 'otp'] }).token)).toMatchObject({
      amr: ['pwd', 'otp'],
    })
    for (const amr of [[], undefined])
      expect(decodePayload(issueNow(issuer, { ...subject, amr }).token)).toMatchObject({ amr: ['hwk'] })
    expect(decodePayload(issueNow(issuer, { accountId: 'acc-1', amr: [] }).token)).not.toHaveProperty('amr')
  })

  it('is another one each time, also within one second', () => {
    const issued = Array.from({ length: 20 }, () => issueNow(issuer, { accountId: 'acc-1' }))
    for (const name of ['token', 'id'] as const) expect(new Set(issued.map((one) => one[name])).size).toBe(20)
  })

  it('expires when it says: expiresAt is the exp inside, also in the middle of a second', () => {
    const { token, expiresAt } = issueNow(makeIssuer({ clock: () => clock() + 999 }), { accountId: 'acc-1' })
    expect(expiresAt.getTime()).toBe((decodePayload(token)['exp'] as number) * 1000)
    expect(expiresAt).toEqual(new Date((now + 3600) * 1000))
  })

  it('does not change the claims and scopes it was given', () => {
    const subject = { accountId: 'acc-1', scopes: ['a'], claims: { sub: 'evil', nested: { n: 1 } } }
    const before = structuredClone(subject)
    issueNow(issuer, subject)
    expect(subject).toEqual(before)
    expect(Object.isFrozen(subject.claims.nested)).toBe(false)
  })
})

describe('issue refuses what cannot be put into a token', () => {
  it.each([
    ['an empty account id', { accountId: '' }, 'accountId'],
    ['a number as account id', { accountId: 7 }, 'accountId'],
    ['no account id', {}, 'accountId'],
    ['scopes as one string', { accountId: 'a', scopes: 'a b' }, 'scopes'],
    ['a scope with a space', { accountId: 'a', scopes: ['a b'] }, 'scopes'],
    ['an empty scope', { accountId: 'a', scopes: [''] }, 'scopes'],
    ['a hole in the scopes', { accountId: 'a', scopes: new Array(1) }, 'scopes'],
    ['claims as an array', { accountId: 'a', claims: ['x'] }, 'claims'],
    ['claims as a string', { accountId: 'a', claims: 'x' }, 'claims'],
    ['an empty session id', { accountId: 'a', sessionId: '' }, 'sessionId'],
    ['a number as session id', { accountId: 'a', sessionId: 7 }, 'sessionId'],
    ['a text as the time of the sign-in', { accountId: 'a', signedInAt: '2026-01-01' }, 'signedInAt'],
    ['a text as the methods', { accountId: 'a', amr: 'pwd' }, 'amr'],
    ['a method that is no text', { accountId: 'a', amr: ['pwd', 7] }, 'amr'],
    ['an empty method', { accountId: 'a', amr: [''] }, 'amr'],
    ['an invalid time of the sign-in', { accountId: 'a', signedInAt: new Date(Number.NaN) }, 'signedInAt'],
  ])('%s', (_, subject, named) => {
    expectMisuse(() => issueNow(issuer, subject as never), `"${named}" must be`)
  })

  it.each([
    ['a text', 'acc-1', 'issue: pass an object like { accountId, scopes }'],
    ['a member that it does not know', { accountId: 'a', sub: 'a' }, 'issue: unknown member "sub"'],
    [
      'a private claim',
      { accountId: 'a', tenant: 'a' },
      'issue: unknown member "tenant". Put private claims into "claims". Known members: accountId, scopes, claims, lifetime, issuedAt, sessionId, signedInAt',
    ],
  ])('%s', (_, subject, message) => {
    expectMisuse(() => issueNow(issuer, subject as never), message)
  })
})

it.each([
  ['accountId', 'id sub'],
  ['scopes', 'scope permissions'],
  ['lifetime', 'expiresIn ttl maxAge'],
])('names the member "%s" for what other packages call it: %s', (name, aliases) => {
  for (const alias of aliases.split(' ')) {
    const subject = { accountId: 'acc-1', [alias]: 'x' }
    expectMisuse(() => issueNow(issuer, subject), `issue: unknown member "${alias}". Did you mean "${name}"?`)
  }
})

describe('the lifetime of one token', () => {
  it.each([
    [undefined, 3600],
    [null, 3600],
    ['10m', 600],
    [1, 1],
    ['1 hour', 3600],
    ['2 hours', 3600],
  ])('%j is %i seconds, at most those of the issuer', (lifetime, seconds) => {
    const { token, expiresAt } = issueNow(issuer, { accountId: 'acc-1', lifetime })
    expect(decodePayload(token)).toMatchObject({ iat: now, exp: now + seconds })
    expect(expiresAt).toEqual(new Date((now + seconds) * 1000))
  })

  it.each([0, '0s', '367 days', 'soon', {}])('cannot be %j', (lifetime) => {
    expectMisuse(
      () => issueNow(issuer, { accountId: 'acc-1', lifetime: lifetime as string }),
      /^issue: "lifetime" must be /,
    )
  })
})

it('starts the lifetime at issuedAt, in whole seconds, and a verifier knows its milliseconds', async () => {
  const issuedAt = new Date((now - 60) * 1000 + 999)
  const { token, expiresAt } = issueNow(issuer, { accountId: 'acc-1', issuedAt })
  expect(decodePayload(token)).toMatchObject({ iat: now - 60, exp: now + 3540 })
  expect(expiresAt).toEqual(new Date((now + 3540) * 1000))
  expect(await issuer.verify(token)).toMatchObject({ issuedAt, expiresAt })
})

it('counts the time of a clock that has fractions of a millisecond in whole milliseconds', async () => {
  const tokens = makeIssuer({ clock: () => clock() + 7.9 })
  const { token } = issueNow(tokens, { accountId: 'acc-1' })
  expect((await tokens.verify(token)).issuedAt).toEqual(new Date(clock() + 7))
})

it.each([0.001, 1, 3600, 9e9])('counts an issuedAt %d seconds ahead as now', async (ahead) => {
  const { token } = issueNow(issuer, { accountId: 'acc-1', issuedAt: new Date((now + ahead) * 1000) })
  expect(decodePayload(token)).toMatchObject({ iat: now, exp: now + 3600 })
  expect((await issuer.verify(token)).issuedAt).toEqual(new Date(now * 1000))
})

it('reads a list of scopes once, so that a list which changes is checked as it is written', () => {
  const values = ['a', 'b c']
  const scopes = Object.defineProperty(['a'], 0, { get: () => values.shift() })
  expect(decodePayload(issueNow(issuer, { accountId: 'acc-1', scopes }).token)).toMatchObject({ scope: 'a' })
})

it('writes no claim that is a function, so a toJSON cannot replace the payload', () => {
  const claims = { toJSON: () => ({ sub: 'admin' }), tenant: 'north' }
  const { token, id } = issueNow(issuer, { accountId: 'acc-1', claims })
  const written = { iss: ISSUER, aud: ISSUER, sub: 'acc-1', client_id: ISSUER, iat: now, exp: now + 3600, jti: id }
  expect(decodePayload(token)).toEqual({ ...written, tenant: 'north' })
})

it('warns of a token of 4,097 characters, and not of one of 4,096', async () => {
  const [usual, long] = [ofLength(4096), ofLength(4097)]
  // Another copy of the package, because a process warns once.
  vi.resetModules()
  const copy = await import('../../../support/fixtures.js')
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warned.mockRestore())
  issueNow(withKid(usual.kid, copy.makeIssuer), padded(usual.pad))
  expect(warned).not.toHaveBeenCalled()
  issueNow(withKid(long.kid, copy.makeIssuer), padded(long.pad))
  expect(warned.mock.calls).toEqual([[expect.stringContaining('4,096 characters'), expect.anything()]])
})

it.each<[string, object, string?]>([
  ['a scope with a comma', { scopes: ['reports:read', 'a,b'] }, 'comma'],
  ['a claim of the issuer', { claims: { tenant: 'north', iss: 'x' } }, '"iss"'],
  ['a lifetime above that of the issuer', { lifetime: '2h' }, 'lifetime'],
  ['nothing', { scopes: ['a'], claims: { tenant: 'north' }, lifetime: '1h' }],
  ['nothing, for a token of a session, whose lifetime is not of the host', { lifetime: '2h', sessionId: 'session-1' }],
])('warns of %s', async (_, subject, says) => {
  vi.resetModules()
  const copy = await import('../../../support/fixtures.js')
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warned.mockRestore())
  issueNow(withKid('k1', copy.makeIssuer), { accountId: 'acc-1', ...subject })
  expect(warned.mock.calls).toEqual(says === undefined ? [] : [[expect.stringContaining(says), expect.anything()]])
})

it('verifies a token of 2 ** 20 characters, and none that is longer', async () => {
  for (const { length, verified } of [
    { length: 2 ** 20, verified: true },
    { length: 2 ** 20 + 1, verified: false },
  ]) {
    const { kid, pad } = ofLength(length)
    const tokens = withKid(kid)
    const { token } = issueNow(tokens, padded(pad))
    expect(token).toHaveLength(length)
    if (verified) expect(await tokens.verify(token)).toMatchObject({ accountId: 'acc-1' })
    else await expectInvalidToken(tokens.verify(token), 'malformed')
  }
})
