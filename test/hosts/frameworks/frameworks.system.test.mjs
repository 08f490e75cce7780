import { describe, expect, it, onTestFinished } from 'vitest'
import { expectHost, start } from '../expect-host.js'
import { makeKit, NO_HOSTS, SCOPE } from '../kit.js'

/** Starts a host, and stops it when the test ends. */
async function run(host, kit = makeKit()) {
  const { app, close, url, ...rest } = await host(kit)
  if (close) onTestFinished(() => close())
  return { url: url ?? (await start(app)), ...rest, kit }
}

describe.skipIf(NO_HOSTS)('the router and the guard in', () => {
  it.each([
    ...['withCanActivate', 'withFilter', 'withMiddleware', 'withForwardedErrors'].map((name) => [
      'Nest',
      name,
      './nest.mjs',
    ]),
    ...['withExpress', 'withHook'].map((name) => ['Fastify', name, './apps.mjs']),
    ...['generated', 'generatedWithErrorHandler'].map((name) => ['express-generator', name, './apps.mjs']),
  ])('%s: %s', async (_, name, file) => {
    const { url } = await run((await import(file))[name])
    await expectHost(url)
  })

  it('an app without an error handler: Express sends the headers of a forwarded refusal', async () => {
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

  it('express-openapi-validator, which finds no response that the document does not describe', async () => {
    const { openApiValidator } = await import('./apps.mjs')
    const { url, invalid } = await run(openApiValidator)
    await expectHost(url)
    expect(invalid).toEqual([])
  })

  it('an app whose accounts are documents of Mongoose', async () => {
    const { withDocuments } = await import('./apps.mjs')
    const { url, kit } = await run(withDocuments)
    await expectHost(url)
    const headers = { Authorization: `Bearer ${kit.issued.alice}` }
    const body = await (await fetch(`${url}/reports`, { headers })).json()
    expect(body).toMatchObject({ account: 'acc-1', user: { id: 'acc-1', scopes: [SCOPE] } })
    expect(JSON.stringify(body)).not.toContain('plain:')
  })
})
