// Tests sessions/sessions.ts tokens/verified-token.ts
import { inspect } from 'node:util'
import { type AuthenticatedRequest, authOf, memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { parse, startAuth } from '../../support/auth-app.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { bearer, TOKEN_PATH } from '../../support/http.js'

/** Starts an app, signs in, and returns a function that makes a guarded request. */
async function signedIn(options: Parameters<typeof startAuth>[0] = {}) {
  const app = await startAuth(options)
  const { authenticationToken, refreshToken } = await app.signIn()
  const request = async (token = authenticationToken) => {
    const { headers } = bearer(token, '/')
    const rawHeaders = Object.entries(headers ?? {}).flat()
    const lower = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
    const req = { method: 'GET', url: '/', headers: lower, rawHeaders, socket: {} } as never
    await app.auth.guard().authenticate(req)
    return req as AuthenticatedRequest
  }
  return { ...app, request, refreshToken, token: authenticationToken }
}

describe('auth.sessions.update', () => {
  it('sets what authOf(req).session of the next requests has, frozen, for this session only', async () => {
    const { auth, request, signIn } = await signedIn()
    const other = (await signIn()).authenticationToken
    const req = await request()
    expect(authOf(req).session).toBeUndefined()
    await auth.sessions?.update(req, { organisation: 'o-1', roles: ['a'] })
    const { session, accountId, id, issuedAt, expiresAt } = authOf(await request())
    expect(session).toEqual({ organisation: 'o-1', roles: ['a'] })
    expect([session, session?.['roles']].every(Object.isFrozen)).toBe(true)
    expect([accountId, id, issuedAt, expiresAt]).toEqual([
      authOf(req).accountId,
      authOf(req).id,
      authOf(req).issuedAt,
      authOf(req).expiresAt,
    ])
    expect(authOf(await request(other)).session).toBeUndefined()
    await auth.sessions?.update(await request(), {})
    expect(authOf(await request()).session).toEqual({})
  })

  it('is not undone by a refresh, and is not in the list of sessions', async () => {
    const { auth, request, refreshToken, post, get, token } = await signedIn({ refresh: 'body' })
    await auth.sessions?.update(await request(), { organisation: 'o-1' })
    const next = parse(await post(`${TOKEN_PATH}/refresh`, { refreshToken }))
    expect(authOf(await request(next.authenticationToken)).session).toEqual({ organisation: 'o-1' })
    expect((await get('/sessions', token)).body).not.toContain('o-1')
    await auth.sessions?.update(await request(), { organisation: 'o-2' })
    expect(await post(`${TOKEN_PATH}/refresh`, { refreshToken: next.refreshToken })).toMatchObject({ status: 200 })
  })

  it('is refused when the session has ended, and by a store that fails', async () => {
    const { sessions, codes } = memoryStore()
    const { auth, request } = await signedIn({ store: { sessions, codes } })
    const req = await request()
    const { update } = sessions
    sessions.update = () => Promise.reject(new Error('down'))
    expect(await rejectionOf(auth.sessions?.update(req, {}) as Promise<void>)).toMatchObject({ code: 'unavailable' })
    sessions.update = update
    await auth.sessions?.endAll(authOf(req).accountId)
    expect(await rejectionOf(auth.sessions?.update(req, {}) as Promise<void>)).toMatchObject({ code: 'invalid_token' })
  })

  it.each(['{bad "secret-value"}', 'null', '5', '"text"', '[1]', '', 5])(
    'is unavailable at guards while the store returns %j in place of the data, and the event shows no part of it',
    async (data) => {
      const { sessions, codes } = memoryStore()
      const { auth, request, events } = await signedIn({ store: { sessions, codes } })
      await auth.sessions?.update(await request(), { organisation: 'o-1' })
      const { find } = sessions
      sessions.find = async (id) => ({ ...(await find(id)), data }) as never
      const refusal = await rejectionOf(request())
      expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
      expect(events.at(-1)).toMatchObject({
        type: 'dependency.failed',
        dependency: 'sessions',
        error: { message: expect.stringContaining('"data" must be the string that the store received, unchanged') },
      })
      expect(inspect(events.at(-1), { depth: 9 })).not.toContain('secret-value')
      sessions.find = find
      expect(authOf(await request()).session).toEqual({ organisation: 'o-1' })
    },
  )

  it.each<[string, unknown]>([
    ['no object', 'o-1'],
    ['an array', [1]],
    ['nothing', undefined],
    ['more than 4,096 characters', { long: 'x'.repeat(4096) }],
    ['an object that is no JSON object', new Date()],
  ])('throws a TypeError for data that is %s', async (_, data) => {
    const { auth, request } = await signedIn()
    const error = await rejectionOf(auth.sessions?.update(await request(), data as never) as Promise<void>)
    expectMisuse(() => {
      throw error
    }, 'sessions.update: the data must be a JSON object of at most 4096 characters')
  })

  it('throws a TypeError for a request without a verified token, and names a store without the method', async () => {
    const { update: _, ...sessions } = memoryStore().sessions
    const { auth, request } = await signedIn({ store: { sessions } })
    const error = await rejectionOf(auth.sessions?.update({}, {}) as Promise<void>)
    expect(error).toMatchObject({ message: expect.stringContaining('pass a request that a guard has admitted') })
    expect(await rejectionOf(auth.sessions?.update(await request(), {}) as Promise<void>)).toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringContaining('the store has no "update"') },
    })
  })
})
