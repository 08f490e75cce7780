import { memoryStore } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { get, signIn, startExamples } from '../../../support/documents/examples.js'
import { SECRET } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { startApi } from './start-api.js'

const { run } = startExamples(import.meta.url)

const withStore = () => ({ store: memoryStore(), secret: SECRET })

/** Lets the global `fetch` keep one cookie, as a browser does, and reach the API of the pages at `url`. */
function actAsBrowser(url: string) {
  const { fetch } = globalThis
  let cookie = ''
  vi.stubGlobal('fetch', async (target: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (cookie && init.credentials === 'include') headers.set('Cookie', cookie)
    const response = await fetch(String(target).replace('https://api.example.com', url), { ...init, headers })
    for (const given of response.headers.getSetCookie()) cookie = given.split(';')[0] as string
    return response
  })
  onTestFinished(() => void vi.unstubAllGlobals())
}

describe('the page on refresh', () => {
  it('refresh: gives a cookie for another token, until a sign-out', async () => {
    const { app } = await run('refresh')
    const { body, headers } = await signIn(app).expect(200)
    expect(Object.keys(body)).toEqual(['authenticationToken', 'expiration'])
    const [cookie = ''] = [headers['set-cookie'] ?? []].flat()
    const post = (path: string) =>
      request(app)
        .post(TOKEN_PATH + path)
        .set('Cookie', cookie)
    const next = await post('/refresh').expect(200)
    await get(app, '/statements', next.body.authenticationToken).expect(200)
    await post('/sign-out').expect(204)
    await post('/refresh').expect(403)
  })

  it('refresh-page: shows the app after a reload, without a form', async () => {
    const { url, logins } = await startApi({ ...withStore(), refresh: 'cookie' })
    actAsBrowser(url)
    const first = await run<{ shown: string[] }>('refresh-page')
    expect(first.shown).toEqual([])
    expect((await first.api.fetch('/statements')).status).toBe(200)
    expect(first.shown).toEqual(['form'])
    const reloaded = await run<{ shown: string[] }>('refresh-page', 'reload')
    expect(reloaded.shown).toEqual(['app'])
    expect((await reloaded.api.fetch('/statements')).status).toBe(200)
    expect(logins()).toBe(1)
    await reloaded.api.signOut()
    expect((await run<{ shown: string[] }>('refresh-page', 'signed out')).shown).toEqual([])
  })

  it('refresh-app: keeps the refresh token until the sign-out', async () => {
    const { url } = await startApi({ ...withStore(), refresh: 'body' })
    actAsBrowser(url)
    const { api, kept } = await run<{ kept: Map<string, string> }>('refresh-app')
    expect(await api.restore()).toBe(false)
    expect((await api.fetch('/statements')).status).toBe(200)
    expect(kept.get('refresh')).toMatch(/^[\w-]+\.0\.[\w-]+$/)
    const { kept: keptAgain, api: restarted } = await run<{ kept: Map<string, string> }>('refresh-app', 'restart')
    keptAgain.set('refresh', kept.get('refresh') as string)
    expect(await restarted.restore()).toBe(true)
    expect(keptAgain.get('refresh')).toMatch(/\.1\./)
    await restarted.signOut()
    expect(keptAgain.size).toBe(0)
  })
})
