import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express from 'express'
import { describe, expect, it } from 'vitest'
import { NO_NGINX, startNginxSite } from '../../support/services/nginx.js'
import { expectHost, start } from '../expect-host.js'
import { makeKit, NO_HOSTS } from '../kit.js'

/** An app with the token endpoint and the guarded route. */
function guardedApp({ router, guard, authOf }) {
  const app = express().use(router)
  app.get('/reports', guard, (req, res) => res.json({ account: authOf(req).accountId }))
  return app
}

describe.skipIf(NO_HOSTS)('http-proxy-middleware', () => {
  /** Starts an upstream without a guard, and the proxy that guards it. */
  async function startProxied() {
    const kit = makeKit()
    const requests = []
    const upstream = express()
    upstream.use((req, _res, next) => next(void requests.push(req.url)))
    upstream.get('/reports', (req, res) => res.json({ account: req.get('x-account') }))
    upstream.post('/echo', (req, res) => pipeline(req, res))

    const { createProxyMiddleware } = await import('http-proxy-middleware')
    const proxyReq = (outgoing, req) => outgoing.setHeader('X-Account', kit.authOf(req).accountId)
    const proxy = createProxyMiddleware({ target: await start(upstream), on: { proxyReq } })
    return { url: await start(express().use(kit.router).use(kit.guard, proxy)), kit, requests }
  }

  it('proxies only admitted requests', async () => {
    const { url, requests } = await startProxied()
    await expectHost(url)
    expect(requests).toEqual(['/reports'])
  })

  it('streams 20 MB through the guard in both directions, unchanged', async () => {
    const { url, kit } = await startProxied()
    const chunk = randomBytes(65_536)
    const chunks = Array.from({ length: 320 }, () => chunk)
    const sent = createHash('sha256')
    for (const one of chunks) sent.update(one)
    const response = await fetch(`${url}/echo`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${kit.issued.alice}` },
      body: Readable.from(chunks),
      duplex: 'half',
    })
    const received = createHash('sha256')
    let bytes = 0
    for await (const one of response.body) {
      bytes += one.length
      received.update(one)
    }
    expect([bytes, received.digest('hex')]).toEqual([20 * 1024 ** 2, sent.digest('hex')])
  })
})

describe.skipIf(NO_NGINX)('nginx', () => {
  const siteOf = (locations) => (port) => `server { listen 127.0.0.1:${port}; ${locations} }`

  it('is a reverse proxy in front of the app', async () => {
    const upstream = await start(guardedApp(makeKit()))
    await expectHost(await startNginxSite(siteOf(`location / { proxy_pass ${upstream}; }`)))
  })

  it('asks the guard with auth_request before it proxies to an app without a guard', async () => {
    const { router, guard, authOf } = makeKit()
    const auth = express().use(router)
    auth.get('/auth', guard, (req, res) => res.set('X-Account', authOf(req).accountId).sendStatus(204))
    const reports = express().get('/reports', (req, res) => res.json({ account: req.get('x-account') }))
    const [authUrl, reportsUrl] = [await start(auth), await start(reports)]

    // nginx sends the challenge only with 401 by itself.
    const url = await startNginxSite(
      (port) => `
        map $status $scope_challenge { 403 $challenge; default ''; }
        ${siteOf(`
          location /api/ { proxy_pass ${authUrl}; }
          location = /auth {
            internal;
            proxy_pass ${authUrl};
            proxy_pass_request_body off;
            proxy_set_header Content-Length '';
          }
          location /reports {
            auth_request /auth;
            auth_request_set $account $upstream_http_x_account;
            auth_request_set $challenge $upstream_http_www_authenticate;
            proxy_set_header X-Account $account;
            add_header WWW-Authenticate $scope_challenge always;
            proxy_pass ${reportsUrl};
          }`)(port)}`,
    )
    await expectHost(url, false)
  })
})
