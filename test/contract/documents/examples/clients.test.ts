import { memoryStore } from 'express-token-endpoint'
import type { TokenClientState } from 'express-token-endpoint/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { startApi } from './start-api.js'

const { run } = startExamples(import.meta.url)

/** Replaces the clock and the intervals. All other timers are real, because the calls are. */
function fakeIntervals() {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}

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

  it('client-sign-out: revokes the token, and does not sign in for it', async () => {
    const { url, logins } = await startApi()
    const { api, signOut } = await run<{ signOut(): Promise<void> }>('client-sign-out')
    await signOut()
    expect(logins()).toBe(0)
    const headers = { ...(await api.headers()) }
    await signOut()
    expect((await fetch(`${url}/statements`, { headers })).status).toBe(401)
    expect(logins()).toBe(1)
  })

  it('client-sign-in: uses the token of the response, and does not sign in again', async () => {
    const { logins, revokeAll } = await startApi()
    const { api } = await run('client-sign-in')
    revokeAll()
    expect((await api.fetch('/statements')).status).toBe(200)
    expect(logins()).toBe(1)
  })

  it('client-step-up: asks for the password when the sign-in is too old, and again after a wrong one', async () => {
    await startApi({ store: memoryStore(), deletion: true })
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { api, asked } = await run<{ asked: unknown[] }>('client-step-up')
    await api.token()
    vi.setSystemTime(Date.now() + 11 * 60_000)
    await api.remove()
    expect(asked).toEqual([false, 'invalid_credentials'])
    await expect(api.token()).rejects.toMatchObject({ code: 'refused' })
  })

  it('client-new-password: signs in with the new password, and sends a refused password once', async () => {
    const { refusals } = await startApi()
    process.env['API_PASSWORD'] = 'wrong'
    const { getStatements } = await run<{ getStatements(): Promise<Response> }>('client-new-password')
    for (let i = 0; i < 2; i++) await expect(getStatements()).rejects.toMatchObject({ code: 'refused' })
    expect(refusals()).toBe(1)
    process.env['API_PASSWORD'] = 'secret'
    expect((await getStatements()).status).toBe(200)
  })

  it('client-timer: renews near the end, and not after the end of the timer', async () => {
    const { logins } = await startApi()
    fakeIntervals()
    const { api, leave } = await run<{ leave(): void }>('client-timer')
    vi.advanceTimersByTime(10_000)
    await api.token()
    vi.setSystemTime(Date.now() + 3_500_000)
    const renewed = new Promise<TokenClientState>((resolve) => {
      const { expiresAt } = api.state
      api.onChange((state) => state.expiresAt !== expiresAt && resolve(state))
    })
    vi.advanceTimersByTime(10_000)
    expect(await renewed).toMatchObject({ error: undefined })
    expect(logins()).toBe(2)
    leave()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('client-countdown: shows the remaining seconds', async () => {
    await startApi()
    fakeIntervals()
    interface Countdown {
      output: { textContent: string }
      countdown: NodeJS.Timeout
      stopListening(): void
    }
    const { api, output, countdown, stopListening } = await run<Countdown>('client-countdown')
    vi.advanceTimersByTime(1000)
    expect(output.textContent).toBe('0 s')
    await api.token()
    vi.advanceTimersByTime(1000)
    expect(output.textContent).toMatch(/^359[89] s$/)
    stopListening()
    api.signOut()
    vi.advanceTimersByTime(1000)
    expect(output.textContent).toMatch(/^359[78] s$/)
    clearInterval(countdown)
  })
})
