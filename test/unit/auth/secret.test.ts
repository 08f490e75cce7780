// Tests options/secret.ts
import { memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { keyFor } from '../../../src/options/secret.js'
import { parse, startAuth } from '../../support/auth-app.js'
import { rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, decodePayload, ISSUER } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'

type App = Awaited<ReturnType<typeof startAuth>>

const { alice } = ACCOUNTS
const [OLD, NEW] = ['secret o'.repeat(4), 'secret n'.repeat(4)]

/** Starts apps on one store, as processes with these secrets. */
async function startWith<T extends readonly (string | string[])[]>(...secrets: T) {
  const shared = { store: memoryStore(), keys: undefined, refresh: 'body' as const }
  const apps = await Promise.all(secrets.map((secret) => startAuth({ ...shared, secret })))
  return apps as { [K in keyof T]: App }
}

describe('the option secret', () => {
  it('signs the tokens where there are no keys, and each process with it accepts them', async () => {
    const [one, other] = await startWith(OLD, OLD)
    const { authenticationToken, refreshToken } = await one.signIn()
    expect(decodePayload(authenticationToken)).toMatchObject({ iss: ISSUER })
    expect(await other.get('/me', authenticationToken)).toMatchObject({ status: 200 })
    expect(await other.post(`${TOKEN_PATH}/refresh`, { refreshToken })).toMatchObject({ status: 200 })
    expect(one.auth.tokens.jwks()).toEqual({ keys: [] })
  })

  it('as a list signs with the first one and verifies with all, so that a new secret signs nobody out', async () => {
    const [before, both, after] = await startWith(OLD, [NEW, OLD], NEW)
    const { authenticationToken, refreshToken } = await before.signIn()
    expect(await both.get('/me', authenticationToken)).toMatchObject({ status: 200 })
    const next = parse((await both.post(`${TOKEN_PATH}/refresh`, { refreshToken })) as never)
    expect(await after.get('/me', next.authenticationToken)).toMatchObject({ status: 200 })
    expect(await after.post(`${TOKEN_PATH}/refresh`, { refreshToken: next.refreshToken })).toMatchObject({
      status: 200,
    })
    expect(await before.get('/me', next.authenticationToken)).toMatchObject({ status: 401 })
  })

  it('that is removed from the list signs everybody out, refresh tokens and tickets too', async () => {
    const [before, after] = await startWith(OLD, NEW)
    const { authenticationToken, refreshToken } = await before.signIn()
    expect(await after.get('/me', authenticationToken)).toMatchObject({ status: 401 })
    expect(await after.post(`${TOKEN_PATH}/refresh`, { refreshToken })).toMatchObject({ status: 403 })
    const apps = [OLD, OLD, NEW].map((secret) => startAuth({ secret, store: undefined }))
    const [signer, same, other] = (await Promise.all(apps)) as [App, App, App]
    const { token } = await signer.auth.tokens.issue({ accountId: alice.id })
    const req = { headers: {}, rawHeaders: [], method: 'GET', auth: await signer.auth.tokens.verify(token) }
    const url = `/a?ticket=${await signer.auth.ticket(req as never, { path: '/a' })}`
    const admit = ({ auth }: App) =>
      auth.guard({ ticket: true }).authenticate({ method: 'GET', url, headers: {}, rawHeaders: [] } as never)
    expect(await admit(same)).toMatchObject({ accountId: alice.id })
    expect(await rejectionOf(admit(other))).toMatchObject({ code: 'invalid_token' })
  })

  it('gives each purpose and each issuer another key', () => {
    const secret = Buffer.from(OLD)
    const keys = (['access token', 'refresh token 2', 'ticket'] as const).flatMap((purpose) =>
      [ISSUER, 'https://other.example'].map((issuer) => keyFor(secret, purpose, issuer).toString('hex')),
    )
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('is needed where there are no keys', async () => {
    await expect(startAuth({ keys: undefined, secret: undefined, store: undefined })).rejects.toThrow(TypeError)
  })
})
