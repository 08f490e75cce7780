import express from 'express'
import { createTokenVerifier, discoverKeys, requireBearer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { issueNow, makeIssuer } from '../../support/fixtures.js'
import { start } from '../expect-host.js'
import { NO_HOSTS } from '../kit.js'

/** Starts an API that accepts its own tokens and those of a provider. */
async function startApi() {
  const { startProvider } = await import('./provider.mjs')
  const events = []
  const own = makeIssuer()
  const app = express()
  const url = await start(app)
  const audience = `${url}/reports`
  const provider = await startProvider(audience)
  const { issuer } = provider
  const partner = createTokenVerifier({ issuer, audience, accept: 'jwt', keys: discoverKeys(issuer) })
  const onEvent = (event) => events.push(event)
  const guard = requireBearer({ tokens: [own, partner], scope: 'reports:read', onEvent })
  app.get('/reports', guard, ({ auth: { issuer, accountId, clientId } }, res) => {
    res.json({ issuer, accountId, clientId })
  })
  async function get(token) {
    const response = await fetch(`${url}/reports`, { headers: { Authorization: `Bearer ${token}` } })
    return { status: response.status, body: await response.json() }
  }
  return { get, own, provider, events }
}

describe.skipIf(NO_HOSTS)('oidc-provider', () => {
  it('issues access tokens that the guard admits, beside our own tokens', async () => {
    const { get, own, provider, events } = await startApi()
    const { issuer } = provider
    const machine = await provider.asMachine()
    const user = await provider.asUser('user-1')
    const admitted = (accountId, clientId) => ({ status: 200, body: { issuer, accountId, clientId } })
    expect(await get(machine.access_token)).toEqual(admitted('agent', 'agent'))
    expect(await get(user.access_token)).toEqual(admitted('user-1', 'page'))
    const { token } = issueNow(own, { accountId: 'acc-1', scopes: ['reports:read'] })
    expect(await get(token)).toMatchObject({ status: 200, body: { issuer: own.issuer, accountId: 'acc-1' } })
    expect(events).toEqual([])
  })

  it('issues ID tokens that the guard refuses, also where the API has the name of the client', async () => {
    const { get, provider, events } = await startApi()
    const { id_token: idToken } = await provider.asUser('user-1')
    expect((await get(idToken)).status).toBe(401)
    expect(events).toMatchObject([{ reason: 'audience', issuer: provider.issuer }])
    const { issuer } = provider
    const verifier = createTokenVerifier({ issuer, audience: 'page', accept: 'jwt', keys: discoverKeys(issuer) })
    await expect(verifier.verify(idToken)).rejects.toMatchObject({ reason: 'id_token' })
  })
})
