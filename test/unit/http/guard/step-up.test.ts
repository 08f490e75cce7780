import express from 'express'
import { type Duration, requireBearer, type TokenIssuer } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../../support/failures.js'
import { frozenClock, ISSUER, issueNow, makeIssuer } from '../../../support/fixtures.js'
import { expectProblem, send } from '../../../support/host.js'
import { listen } from '../../../support/http.js'

type Options = Partial<Parameters<typeof requireBearer>[0]>

async function guarded(tokens: TokenIssuer, options: Options) {
  const app = express().use(requireBearer({ tokens, ...options }), (_req, res) => void res.end('in'))
  const { port } = await listen(app)
  return (token?: string) =>
    send(port, { method: 'GET', path: '/', headers: token ? { Authorization: `Bearer ${token}` } : {} })
}

describe('signedInWithin (RFC 9470)', () => {
  const MINUTE = 60_000

  it.each([
    [0, 200],
    [299_000, 200],
    [300_000, 200],
    [301_000, 401],
    [30 * MINUTE, 401],
  ])('a token that was issued %i ms ago: %i, also from the cache', async (age, status) => {
    const start = frozenClock()()
    let now = start
    const tokens = makeIssuer({ clock: () => now })
    const ask = await guarded(tokens, { signedInWithin: '5m' })
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    expect((await ask(token)).status).toBe(200)
    now += age
    expect((await ask(token)).status).toBe(status)
  })

  it('refuses with a challenge that names the time', async () => {
    const tokens = makeIssuer()
    const ask = await guarded(tokens, { signedInWithin: '5m' })
    const { token } = issueNow(tokens, { accountId: 'acc-1', issuedAt: new Date(Date.now() - 10 * MINUTE) })
    const answer = await ask(token)
    expectProblem(answer, 401, 'insufficient_user_authentication', 'Unauthorized')
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer realm="${ISSUER}", error="insufficient_user_authentication", error_description="This resource needs a more recent sign-in.", max_age="300"`,
    )
  })

  it('needs a token, and a missing scope comes first', async () => {
    const tokens = makeIssuer()
    const ask = await guarded(tokens, { signedInWithin: 60, scope: 'a' })
    const old = issueNow(tokens, { accountId: 'acc-1', issuedAt: new Date(Date.now() - 10 * MINUTE) }).token
    expectProblem(await ask(), 401, 'missing_token', 'Unauthorized')
    expectProblem(await ask(old), 403, 'insufficient_scope', 'Forbidden')
  })
})

describe('scope and anyScope', () => {
  const names = fc.subarray(['a', 'b', 'c', 'd'])

  it('admit exactly the tokens with every scope and with one of anyScope', async () => {
    const tokens = makeIssuer()
    const unlessEmpty = (option: string, scopes: string[]) => (scopes.length > 0 ? { [option]: scopes } : {})
    await fc.assert(
      fc.asyncProperty(names, names, names, async (scope, anyScope, own) => {
        const guard = requireBearer({ tokens, ...unlessEmpty('scope', scope), ...unlessEmpty('anyScope', anyScope) })
        const { token } = issueNow(tokens, { accountId: 'acc-1', scopes: own })
        const req = { headers: { authorization: `Bearer ${token}` }, rawHeaders: [], url: '/', socket: {} } as never
        const admitted = await guard.authenticate(req).then(
          () => true,
          (error) => error.code !== 'insufficient_scope',
        )
        const enough = anyScope.length === 0 || anyScope.some((one) => own.includes(one))
        expect(admitted).toBe(scope.every((one) => own.includes(one)) && enough)
      }),
    )
  })

  it('anyScope refuses with a challenge that lists the scopes', async () => {
    const tokens = makeIssuer()
    const ask = await guarded(tokens, { anyScope: ['totals:read', 'admin'] })
    const answer = await ask(issueNow(tokens, { accountId: 'acc-1', scopes: ['other'] }).token)
    expectProblem(answer, 403, 'insufficient_scope', 'Forbidden')
    expect(answer.headers['www-authenticate']).toContain('scope="totals:read admin"')
  })
})

describe('the lifetime of a token', () => {
  it.each<[Duration | null | undefined, number]>([
    [undefined, 3600],
    [null, 3600],
    ['10m', 600],
    [90, 90],
    ['1s', 1],
    ['2h', 3600],
    ['366 days', 3600],
  ])('%j becomes %i seconds, never more than the issuer’s', async (lifetime, expected) => {
    const tokens = makeIssuer()
    const { token, expiresAt } = issueNow(tokens, { accountId: 'acc-1', lifetime })
    const verified = await tokens.verify(token)
    expect(verified.expiresAt).toEqual(expiresAt)
    expect((expiresAt.getTime() - verified.issuedAt.getTime()) / 1000).toBe(expected)
  })

  it.each(['0s', 'soon', 90_000])('%j is misuse', (lifetime) => {
    expectMisuse(() => issueNow(makeIssuer(), { accountId: 'a', lifetime }), /^issue: "lifetime" must be/)
  })
})
