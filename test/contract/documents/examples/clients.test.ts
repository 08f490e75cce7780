import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { startApi } from './start-api.js'

const { run } = startExamples(import.meta.url)

describe('the pages on clients', () => {
  it('client-service: signs in, and again after the token was revoked', async () => {
    const { logins, revokeAll } = await startApi()
    const { api, response } = await run<{ response: Response }>('client-service')
    expect(response.status).toBe(200)
    await api.fetch('/statements')
    expect(logins()).toBe(1)
    revokeAll()
    expect((await api.fetch('/statements')).status).toBe(200)
    expect(logins()).toBe(2)
  })

  it('client-other-names: signs in at a router with other names, and renews near the end', async () => {
    const respond = ({ token }: { token: string }) => ({ access_token: token, expires_in: 3600 })
    const credentials = ({ username, password }: Record<string, string>) => ({ email: username, password })
    const { logins, refusals } = await startApi({ paths: { token: '/login' }, credentials, respond })
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { api } = await run('client-other-names')
    expect((await api.fetch('/statements')).status).toBe(200)
    expect(api.state.expiresAt).toBe(Date.now() + 3_600_000)
    vi.setSystemTime(Date.now() + 3_595_000)
    await api.token()
    expect([logins(), refusals()]).toEqual([2, 0])
  })

  it('client-sign-in: uses the token of the response, and does not sign in again', async () => {
    const { logins, revokeAll } = await startApi()
    const { api } = await run('client-sign-in')
    revokeAll()
    expect((await api.fetch('/statements')).status).toBe(200)
    expect(logins()).toBe(1)
  })
})
