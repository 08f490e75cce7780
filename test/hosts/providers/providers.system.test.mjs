import { once } from 'node:events'
import express from 'express'
import {
  authInfoOf,
  createTokenVerifier,
  discoverKeys,
  protectedResourceRouter,
  requireBearer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { issueNow, makeIssuer } from '../../support/fixtures.js'
import { NO_HOSTS } from '../kit.js'

/** Starts an app on loopback, and returns its URL. The app is made when its URL is known. */
async function startApp(make) {
  const app = express()
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${server.address().port}`
  await make(app, url)
  return url
}

/** Starts an API that accepts its own tokens and those of a provider. */
async function startApi() {
  const { startProvider } = await import('./provider.mjs')
  const events = []
  const own = makeIssuer()
  let provider
  const url = await startApp(async (app, origin) => {
    const audience = `${origin}/reports`
    provider = await startProvider(audience)
    const { issuer } = provider
    const partner = createTokenVerifier({ issuer, audience, accept: 'jwt', keys: discoverKeys(issuer) })
    const onEvent = (event) => events.push(event)
    const guard = requireBearer({ tokens: [own, partner], scope: 'reports:read', onEvent })
    app.get('/reports', guard, ({ auth: { issuer, accountId, clientId } }, res) => {
      res.json({ issuer, accountId, clientId })
    })
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
    expect(await get(machine.access_token)).toEqual({
      status: 200,
      body: { issuer, accountId: 'agent', clientId: 'agent' },
    })
    expect(await get(user.access_token)).toEqual({
      status: 200,
      body: { issuer, accountId: 'user-1', clientId: 'page' },
    })
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

describe.skipIf(NO_HOSTS)('an MCP server with the official SDK', () => {
  /** Starts an MCP server over Streamable HTTP, whose tool returns what it knows of the token. */
  async function startMcp() {
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js')
    const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js')
    const { startProvider } = await import('./provider.mjs')
    let provider
    const url = await startApp(async (app, origin) => {
      const resource = `${origin}/mcp`
      provider = await startProvider(resource)
      const { issuer } = provider
      const metadata = protectedResourceRouter({ resource, authorizationServers: [issuer], scopes: 'reports:read' })
      const tokens = createTokenVerifier({ issuer, audience: resource, accept: 'jwt', keys: discoverKeys(issuer) })
      const guard = requireBearer({ tokens, scope: 'reports:read', resourceMetadata: metadata.url })
      app.use(metadata)
      app.post('/mcp', guard, express.json(), async (req, res) => {
        const server = new McpServer({ name: 'reports', version: '1.0.0' })
        server.registerTool('whoami', { description: 'Returns the account' }, ({ authInfo }) => {
          const { token, extra, ...known } = authInfo
          const { accountId } = extra.auth
          return { content: [{ type: 'text', text: JSON.stringify({ ...known, accountId, length: token.length }) }] }
        })
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
        res.on('close', () => void server.close())
        await server.connect(transport)
        await transport.handleRequest(Object.assign(req, { auth: authInfoOf(req) }), res, req.body)
      })
    })
    return { url: `${url}/mcp`, provider }
  }

  it('is found from its 401 by the SDK’s client, which gets a token and calls a tool', async () => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const { ClientCredentialsProvider } = await import('@modelcontextprotocol/sdk/client/auth-extensions.js')
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    const { url, provider } = await startMcp()
    const authProvider = new ClientCredentialsProvider({
      ...{ clientId: 'agent', clientSecret: 'secret', scope: 'reports:read', expectedIssuer: provider.issuer },
    })
    const client = new Client({ name: 'agent', version: '1.0.0' })
    onTestFinished(() => client.close())
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }))
    const { content } = await client.callTool({ name: 'whoami' })
    expect(JSON.parse(content[0].text)).toEqual({
      clientId: 'agent',
      scopes: ['reports:read'],
      expiresAt: expect.any(Number),
      resource: url,
      accountId: 'agent',
      length: authProvider.tokens().access_token.length,
    })
  })

  it('refuses a client without a token, and names its metadata', async () => {
    const { url, provider } = await startMcp()
    const response = await fetch(url, { method: 'POST' })
    expect(response.status).toBe(401)
    const [, metadata] = /resource_metadata="(.+?)"/.exec(response.headers.get('WWW-Authenticate')) ?? []
    expect(metadata).toBe(url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'))
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: url,
      authorization_servers: [provider.issuer],
    })
  })
})
