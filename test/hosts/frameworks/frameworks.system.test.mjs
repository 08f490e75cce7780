import { describe, expect, it, onTestFinished } from 'vitest'
import { expectHost, start } from '../expect-host.js'
import { makeKit, NO_HOSTS, SCOPE } from '../kit.js'

/** Starts a host, and stops it when the test ends. */
async function run(host, kit = makeKit()) {
  const { app, close, url, ...rest } = await host(kit)
  if (close) onTestFinished(() => close())
  return { url: url ?? (await start(app)), ...rest, kit }
}

describe.skipIf(NO_HOSTS)('Nest', () => {
  it.each(['withCanActivate', 'withFilter', 'withMiddleware', 'withForwardedErrors'])('%s', async (name) => {
    const hosts = await import('./nest.mjs')
    const { url } = await run(hosts[name])
    await expectHost(url)
  })
})

describe.skipIf(NO_HOSTS)('Fastify', () => {
  it.each(['withExpress', 'withHook'])('%s', async (name) => {
    const hosts = await import('./apps.mjs')
    const { url } = await run(hosts[name])
    await expectHost(url)
  })
})

describe.skipIf(NO_HOSTS)('Express apps', () => {
  it.each(['generated', 'generatedWithErrorHandler'])('%s', async (name) => {
    const hosts = await import('./apps.mjs')
    const { url } = await run(hosts[name])
    await expectHost(url)
  })

  it('Express sends the headers of a forwarded refusal without an error handler of the app', async () => {
    const { withoutErrorHandler } = await import('./apps.mjs')
    const { url } = await run(withoutErrorHandler)
    await expectHost(url, false)
  })

  it('json-server, on Express 4 with the router of Express 5', async () => {
    const { jsonServer } = await import('./apps.mjs')
    const { url, versions } = await run(jsonServer)
    expect(versions).toEqual([expect.stringMatching(/^\^4\./), expect.stringMatching(/^5\./)])
    await expectHost(url)
  })

  it('express-openapi-validator finds no response that the document does not describe', async () => {
    const { openApiValidator } = await import('./apps.mjs')
    const { url, invalid } = await run(openApiValidator)
    await expectHost(url)
    expect(invalid).toEqual([])
  })

  it('accounts are documents of Mongoose', async () => {
    const { withDocuments } = await import('./apps.mjs')
    const { url, kit } = await run(withDocuments)
    await expectHost(url)
    const headers = { Authorization: `Bearer ${kit.issued.alice}` }
    const body = await (await fetch(`${url}/reports`, { headers })).json()
    expect(body).toMatchObject({ account: 'acc-1', user: { id: 'acc-1', scopes: [SCOPE] } })
    expect(JSON.stringify(body)).not.toContain('plain:')
  })
})
