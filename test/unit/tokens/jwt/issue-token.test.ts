import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectInvalidToken, expectMisuse } from '../../../support/failures.js'
import { decodePayload, ISSUER, issueNow, makeIssuer, SECRET } from '../../../support/fixtures.js'
import { atFrozenMoment } from '../../../support/tokens.js'

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

it('starts the lifetime at issuedAt, in whole seconds', () => {
  const issuedAt = new Date((now - 60) * 1000 + 999)
  const { token, expiresAt } = issueNow(issuer, { accountId: 'acc-1', issuedAt })
  expect(decodePayload(token)).toMatchObject({ iat: now - 60, exp: now + 3540 })
  expect(expiresAt).toEqual(new Date((now + 3540) * 1000))
})

it('takes one word as scopes for a mistake, not for a list of letters', () => {
  expectMisuse(
    () => issueNow(issuer, { accountId: 'acc-1', scopes: 'ab' as never }),
    /^issue: "scopes" must be an array/,
  )
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

it('says how to pass an account id', () => {
  expectMisuse(() => issueNow(issuer, {} as never), /must be a non-empty string\. Pass \{ accountId \}$/)
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
  expect(warned).toHaveBeenCalledOnce()
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
