import express from 'express'
import { type AuthEvent, createTokenIssuer, type RemoteSigningKey, tokenRouter } from 'express-token-endpoint'
import request from 'supertest'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startExamples } from '../../../../support/documents/examples.js'
import { fastPasswords, ISSUER, makeStore, signingKey } from '../../../../support/fixtures.js'
import { GOOD } from '../../../../support/host.js'
import { TOKEN_PATH } from '../../../../support/http.js'
import { hsm, SILENCE_MS, services } from '../../../../support/services/key-services.js'
import { headerOf } from '../../../../support/tokens.js'

const { run } = startExamples(import.meta.url)

/** The service's own error for throttling, and what ends a call to a silent service. */
const SERVICES = [
  ['kms-aws', { name: 'ThrottlingException' }, { name: 'AbortError' }],
  ['kms-google', { code: 8 }, { code: 4 }],
  ['kms-azure', { statusCode: 429 }, { name: 'AbortError' }],
  ['kms-vault', { message: 'Vault responded with 429' }, { name: 'TimeoutError' }],
  ['kms-pkcs11', { message: 'CKR_DEVICE_ERROR' }, { message: 'no result within 3000 ms' }],
] as const

/** Creates an issuer with the key of a block, and an app for logins. */
async function start(name: string) {
  const { publicKey, sign } = await run<Pick<RemoteSigningKey, 'publicKey' | 'sign'>>(name)
  const key: RemoteSigningKey = { alg: 'ES256', kid: name, publicKey, sign }
  const tokens = createTokenIssuer({ issuer: ISSUER, keys: key, timeout: '3s' })
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const router = tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), onEvent })
  const logIn = () => request(express().use(router)).post(TOKEN_PATH).send(GOOD)
  return { key, tokens, events, logIn }
}

beforeEach(() => {
  vi.stubEnv('VAULT_ADDR', 'https://vault.example.com')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  // Node's own function has a real timer.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), ms)
    return controller.signal
  })
})
afterEach(() => {
  Object.assign(services, { mood: 'works', pending: 0 })
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe.each(SERVICES)('the page on key services: %s', (name, throttled, ended) => {
  it('signs the token of each login, also several at once', async () => {
    const { tokens, logIn } = await start(name)
    // Both numbers of some signatures begin with zeros, or with a set bit.
    const { body } = await logIn().expect(200)
    const issued = await Promise.all(Array.from({ length: 40 }, () => tokens.issue({ accountId: 'acc-1' })))
    for (const token of [body.authenticationToken, ...issued.map(({ token }) => token)]) {
      expect(headerOf(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: name })
      expect(await tokens.verify(token)).toMatchObject({ accountId: 'acc-1' })
    }
  })

  it('becomes 503 and an event while the service throttles, and works again at the next login', async () => {
    const { events, logIn } = await start(name)
    services.mood = 'throttles'
    const { body, headers } = await logIn().expect(503)
    expect(body).toMatchObject({ code: 'unavailable' })
    expect(headers).toMatchObject({ 'retry-after': expect.any(String), 'cache-control': 'no-store' })
    services.mood = 'works'
    await logIn().expect(200)
    expect(events).toMatchObject([
      { type: 'dependency.failed', dependency: 'keys', refused: true, error: throttled },
      { type: 'token.issued' },
    ])
  })

  it('becomes 503 when the service is silent for 10 s, also when its signature comes later', async () => {
    const { events, logIn } = await start(name)
    services.mood = 'is silent'
    const called = new Promise<void>((resolve) => {
      services.onCall = resolve
    })
    const response = logIn().then()
    await called
    await vi.advanceTimersByTimeAsync(3000)
    expect(await response).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(events[0]).toMatchObject({ type: 'dependency.failed', dependency: 'keys', error: ended })
    services.mood = 'works'
    await logIn().expect(200)
    // Only the call of the HSM lasts.
    expect([services.pending, hsm.sessions]).toEqual(name === 'kms-pkcs11' ? [1, 1] : [0, 0])
    await vi.advanceTimersByTimeAsync(SILENCE_MS)
    expect([services.pending, hsm.sessions]).toEqual([0, 0])
    expect(events.map(({ type }) => type)).toEqual(['dependency.failed', 'token.issued'])
  })

  it('rotates from a key in memory and back, with a list and without a restart', async () => {
    const { key, tokens } = await start(name)
    const local = signingKey('ES256')
    const subject = { accountId: 'acc-1' }
    const issued: string[] = []
    for (const keys of [[key], [key, local], [local, key], [key, local]]) {
      tokens.replaceKeys(keys)
      const { token } = await tokens.issue(subject)
      issued.push(token)
      const restarted = createTokenIssuer({ issuer: ISSUER, keys })
      for (const one of issued)
        for (const verifier of [tokens, restarted]) expect(await verifier.verify(one)).toMatchObject(subject)
    }
    const { kid } = tokens.jwks().keys[1] ?? {}
    expect(issued.map((token) => headerOf(token)['kid'])).toEqual([name, name, kid, name])
    tokens.replaceKeys([local])
    await expect(tokens.verify(issued[0] ?? '')).rejects.toMatchObject({ reason: 'unknown_key' })
  })
})
