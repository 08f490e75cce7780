// Tests guard/auth-info.ts

import { authInfoOf, protectedResourceRouter, requireBearer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse, thrownBy } from '../../support/failures.js'
import { issueNow, makeIssuer } from '../../support/fixtures.js'
import { expectProblem, packageOn, type Sent, send } from '../../support/host.js'
import { EXPRESS, listen } from '../../support/http.js'

const RESOURCE = 'https://api.example.com/mcp'
const SERVERS = ['https://tenant.example/']
const PATH = '/.well-known/oauth-protected-resource'

describe.each(EXPRESS)('protectedResourceRouter on %s', (_, installed) => {
  const serve = async (options: object = {}) => {
    const { protectedResourceRouter } = await packageOn(installed)
    const defaults = { resource: RESOURCE, authorizationServers: SERVERS }
    const app = installed().use(protectedResourceRouter({ ...defaults, ...options }))
    app.use((_req, res) => void res.status(404).end())
    const { port } = await listen(app)
    return (path: string, sent: Sent = {}) => send(port, { method: 'GET', path, ...sent })
  }

  it('publishes the metadata below the path of the resource, and nowhere else', async () => {
    const get = await serve()
    const { status, headers, body } = await get(`${PATH}/mcp`)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'public, max-age=300' })
    const required = { resource: RESOURCE, authorization_servers: SERVERS, bearer_methods_supported: ['header'] }
    expect(JSON.parse(body)).toEqual(required)
    for (const path of [PATH, `${PATH}/mcp/`, `${PATH}/MCP`]) expect(await get(path)).toMatchObject({ status: 404 })
    expect(await get(`${PATH}/mcp`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
    expectProblem(await get(`${PATH}/mcp`, { method: 'POST' }), 405, 'method_not_allowed', 'Method Not Allowed')
  })

  it.each(['https://api.example.com', 'https://api.example.com/'])('has no path for %s', async (resource) => {
    const optional = { scopes: 'a b', name: 'Reports', documentation: 'https://docs.example.com/reports' }
    const get = await serve({ resource, ...optional })
    expect(JSON.parse((await get(PATH)).body)).toEqual({
      resource,
      authorization_servers: SERVERS,
      bearer_methods_supported: ['header'],
      scopes_supported: ['a', 'b'],
      resource_name: 'Reports',
      resource_documentation: 'https://docs.example.com/reports',
    })
  })
})

it('has the URL of the metadata, which each challenge of a guard names', async () => {
  const { url } = protectedResourceRouter({ resource: RESOURCE, authorizationServers: SERVERS })
  expect(url).toBe(`https://api.example.com${PATH}/mcp`)
  const tokens = makeIssuer()
  const guard = requireBearer({ tokens, resourceMetadata: url, scope: 'a' })
  const { token } = issueNow(tokens, { accountId: 'acc-1' })
  for (const authorization of [undefined, 'Bearer x', 'Bearer', `Bearer ${token}`]) {
    const headers = { ...(authorization && { authorization }) }
    const req = { headers, rawHeaders: Object.entries(headers).flat(), url: '/' } as never
    const challenge = (await guard.authenticate(req).catch(({ headers }) => headers))['WWW-Authenticate']
    expect(challenge).toMatch(new RegExp(`^Bearer realm="https://api.example.com".*, resource_metadata="${url}"$`))
  }
})

it.each([
  [{ resource: 'api.example.com' }, '"resource" must be an absolute http or https URL'],
  [{ resource: 'http://api.example.com' }, /"resource" must be an https: URL.*Use http only for loopback/],
  [{ resource: `${RESOURCE}#a` }, '"resource" must be an absolute http or https URL'],
  [{ authorizationServers: [] }, '"authorizationServers" must be an array of 1 to 32 URLs of issuers'],
  [{ authorizationServers: Array(33).fill(SERVERS[0]) }, '"authorizationServers" must be an array of 1 to 32 URLs'],
  [{ authorizationServers: SERVERS[0] }, '"authorizationServers" must be an array of 1 to 32 URLs of issuers'],
  [{ authorizationServers: ['http://tenant.example'] }, '"authorizationServers" must be an https: URL'],
  [{ name: '' }, '"name" must be a non-empty string'],
  [{ issuers: SERVERS }, 'unknown option "issuers". Did you mean "authorizationServers"?'],
  [{ authorization_servers: SERVERS }, 'unknown option "authorization_servers". Did you mean "authorizationServers"?'],
  [{ url: RESOURCE }, 'unknown option "url". Did you mean "resource"?'],
])('refuses %j', (options, says) => {
  const read = () => protectedResourceRouter({ resource: RESOURCE, authorizationServers: SERVERS, ...options } as never)
  expectMisuse(read, /^protectedResourceRouter: /)
  expectMisuse(read, says)
})

it('takes 32 servers', () => {
  const authorizationServers = Array(32).fill(SERVERS[0])
  expect(() => protectedResourceRouter({ resource: RESOURCE, authorizationServers })).not.toThrow()
})

it('refuses a path that is a pattern of Express', () => {
  const read = () => protectedResourceRouter({ resource: `${RESOURCE}/:id`, authorizationServers: SERVERS })
  expectMisuse(read, 'protectedResourceRouter: the path of "resource" must be a path like')
})

const ODD = ['http://api.example.com/x', 'x', 'https://api.example.com/#a', 7]
const CREDENTIALS = ['https://user@api.example.com/', 'https://:pa55word@api.example.com/']
it.each([...ODD, ...CREDENTIALS])('the guard refuses the metadata %s', (url) => {
  const read = () => requireBearer({ tokens: makeIssuer(), resourceMetadata: url as string })
  expectMisuse(read, 'requireBearer: option "resourceMetadata" must be an absolute https: URL')
  expect((thrownBy(read) as Error).message).not.toContain('pa55word')
})

describe('the auth info for the MCP SDK', () => {
  const tokens = makeIssuer({ audience: RESOURCE, clientId: 'agent' })
  const { token, expiresAt } = issueNow(tokens, { accountId: 'acc-1', scopes: ['a'] })
  const requestOf = (authorization: string | undefined = `Bearer ${token}`) => {
    return {
      headers: { authorization },
      rawHeaders: ['Authorization', authorization],
      url: '/',
      method: 'POST',
    } as never
  }

  it('has the members of the MCP SDK', async () => {
    const req = requestOf()
    const auth = await requireBearer({ tokens }).authenticate(req)
    expect(authInfoOf(req)).toEqual({
      token,
      clientId: 'agent',
      scopes: ['a'],
      expiresAt: expiresAt.getTime() / 1000,
      resource: new URL(RESOURCE),
      extra: { auth },
    })
  })

  it('has no resource without a URL, and an empty client without a client', async () => {
    const own = { id: 'a', accountId: 'b', scopes: [], issuedAt: new Date(), audience: 'reports' }
    const req = requestOf()
    await requireBearer({ tokens: { ...tokens, verify: async () => own as never } }).authenticate(req)
    expect(authInfoOf(req)).toMatchObject({ clientId: '', scopes: [] })
    expect(authInfoOf(req)).not.toHaveProperty('resource')
  })

  it('has no text of a token that came from elsewhere', async () => {
    const req = requestOf('')
    await requireBearer({ tokens, tokenFrom: () => token }).authenticate(req)
    expect(authInfoOf(req)).toMatchObject({ token: '', clientId: 'agent' })
  })

  it('throws without a guard', () => {
    expectMisuse(() => authInfoOf(requestOf()), 'authOf: POST / has no verified token')
  })
})
