import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../example-app/processes/listen.js'

/** Node publishes each request here before Express receives it. */
const STARTED = 'http.server.request.start'

test('requests and responses have the prototypes of the app before Express sets them', async () => {
  const { app, url, drain } = await listen({ host: '127.0.0.1', port: 0, variable: 'PORT' })
  onTestFinished(drain)
  app.get('/', (_req, res) => void res.send('hello'))
  const seen: unknown[] = []
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    seen.push(Object.getPrototypeOf(request) === app.request, Object.getPrototypeOf(response) === app.response)
  }
  subscribe(STARTED, onStart)
  onTestFinished(() => void unsubscribe(STARTED, onStart))
  expect(await (await fetch(url)).text()).toBe('hello')
  expect(seen).toEqual([true, true])
})
