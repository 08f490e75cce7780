import type { RequestHandler } from 'express'
import type { AuthEvent, PrivateTokenKey, TokenIssuerOptions } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { until } from '../../support/concurrency.js'
import { frozenClock, ISSUER, signingKey } from '../../support/fixtures.js'
import { type Answer, expectUnavailable, packageOn, send } from '../../support/host.js'
import { EXPRESS, listen } from '../../support/http.js'
import { startSource } from '../../support/jwks-source.js'

const COOLDOWN = 30_000
const HOUR = 3_600_000

describe.each(EXPRESS)('two services on %s: one issues, the other follows its keys', (_, installed) => {
  /** The issuing service, whose keys can be changed as by a deployment, and a service that only verifies. */
  async function fleet({ waits = '5s' } = {}) {
    const { createTokenIssuer, createTokenVerifier, jwksRouter, remoteKeys, requireBearer } = await packageOn(installed)
    const clock = frozenClock()
    const issuerOf = (keys: TokenIssuerOptions['keys']) =>
      createTokenIssuer({ issuer: ISSUER, keys, lifetime: '30 days', clock })
    const routerOf = (keys: TokenIssuerOptions['keys']) =>
      installed().use(jwksRouter({ tokens: issuerOf(keys), path: '/jwks.json' }))
    const source = await startSource(routerOf(signingKey('ES256')))
    const events: AuthEvent[] = []
    const errors: Error[] = []
    const onError = (error: Error) => errors.push(error)
    const keys = remoteKeys(source.url, { clock, onError, timeout: '54s' })
    const tokens = createTokenVerifier({ issuer: ISSUER, keys, clock })
    const guard = requireBearer({ tokens, timeout: waits as '5s', onEvent: (event) => events.push(event) })
    const handler: RequestHandler = (_req, res) => void res.send('let through')
    const { port } = await listen(installed().get('/', guard, handler))
    return {
      clock,
      source,
      events,
      errors,
      deploy: (keys: TokenIssuerOptions['keys']) => source.serve(routerOf(keys)),
      tokenOf: (key: PrivateTokenKey) => issuerOf(key).issue({ accountId: 'acc-1' }).token,
      ask: (token: string) => send(port, { method: 'GET', path: '/', headers: { Authorization: `Bearer ${token}` } }),
    }
  }

  const [oldKey, newKey] = [signingKey('ES256'), signingKey('RS256')]
  const expectPassed = (answer: Answer) => expect(answer).toMatchObject({ status: 200, body: 'let through' })
  const expectRefused = ({ status, headers }: Answer) => {
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toContain('error="invalid_token"')
  }

  it('a rotation refuses no good token, and none passes afterwards that should not', async () => {
    const { clock, deploy, tokenOf, ask } = await fleet()
    const [old, fresh] = [tokenOf(oldKey), tokenOf(newKey)]
    expectPassed(await ask(old))
    deploy([oldKey, newKey])
    clock.advance(COOLDOWN)
    for (const token of [fresh, old, tokenOf(oldKey), tokenOf(newKey)]) expectPassed(await ask(token))
    deploy([newKey, oldKey])
    clock.advance(COOLDOWN)
    for (const token of [fresh, old]) expectPassed(await ask(token))
    deploy(newKey)
    clock.advance(HOUR / 6)
    expectPassed(await ask(tokenOf(newKey)))
    for (const token of [old, tokenOf(oldKey)]) expectRefused(await ask(token))
    expectPassed(await ask(fresh))
  })

  it('while the first is down, the second goes on, then cannot tell, and comes back by itself', async () => {
    const { clock, source, tokenOf, ask, events, errors } = await fleet()
    const token = tokenOf(oldKey)
    expectPassed(await ask(token))
    await source.stop()
    for (let i = 1; i < 6; i++) {
      clock.advance(HOUR / 6)
      expectPassed(await ask(token))
      expectPassed(await ask(tokenOf(oldKey)))
    }
    expect(events).toEqual([])
    expect(errors.length).toBeGreaterThan(0)
    clock.advance(HOUR / 6)
    expectUnavailable(await ask(token))
    expect(events).toEqual([
      {
        type: 'dependency.failed',
        dependency: 'keys',
        refused: true,
        error: errors.at(-1),
        time: expect.any(Date),
        address: expect.any(String),
      },
    ])
    await source.restart()
    clock.advance(COOLDOWN)
    expectPassed(await ask(token))
  })

  it('when the first was never up: 503 for every token that a key could save, and 401 for the others', async () => {
    const { source, tokenOf, ask, events } = await fleet()
    await source.stop()
    expectUnavailable(await ask(tokenOf(oldKey)))
    expectUnavailable(await ask(tokenOf(newKey)))
    expectRefused(await ask('garbage'))
    expect(JSON.stringify(events.map((event) => ('error' in event ? String(event.error) : event)))).not.toContain('eyJ')
  })

  it('a source that hangs is given up by the guard in its own time', async () => {
    const { source, tokenOf, ask, events } = await fleet({ waits: '50ms' })
    const release = source.hold()
    expectUnavailable(await ask(tokenOf(oldKey)))
    expect(events).toMatchObject([{ dependency: 'keys', error: { message: 'no result within 50 ms' } }])
    release()
    await until(async () => expectPassed(await ask(tokenOf(oldKey))))
    expect(source.requests()).toBe(1)
  })

  it('a flood of made-up keys costs one fetch, and good tokens go on', async () => {
    const { source, clock, tokenOf, ask } = await fleet()
    expectPassed(await ask(tokenOf(oldKey)))
    clock.advance(COOLDOWN)
    const forged = Array.from({ length: 200 }, (_, i) => tokenOf({ ...newKey, kid: `${'k'.repeat(i)}${i}` }))
    const answers = await Promise.all(forged.map((token) => ask(token)))
    for (const answer of answers) expectRefused(answer)
    expect(source.requests()).toBe(2)
    expectPassed(await ask(tokenOf(oldKey)))
  })
})
