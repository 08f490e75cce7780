// Tests client/runtime-in-browsers.ts
import { describe, expect, it, vi } from 'vitest'
import * as runtime from '../../src/client/runtime.js'
import * as inBrowsers from '../../src/client/runtime-in-browsers.js'

it('has the functions of the file that it replaces', () => {
  expect(Object.keys(inBrowsers).sort()).toEqual(Object.keys(runtime).sort())
})

it('sends a request once, and leaves a redirect to the browser', async () => {
  const url = new URL('https://api.example.com/x')
  const request = new Request(url, { method: 'POST' })
  const headers = new Headers({ Authorization: 'Bearer T' })
  const init = { headers }
  const redirect = new Response(null, { status: 302, headers: { Location: 'https://other.example.com/' } })
  const send = vi.fn<typeof fetch>(async () => redirect)
  for (const given of [undefined, request])
    expect(await inBrowsers.sendAndFollow(send, url, given, init, headers)).toBe(redirect)
  expect(send.mock.calls).toEqual([
    [url, init],
    [request, init],
  ])
  expect(init).toEqual({ headers })
  expect(headers.get('Authorization')).toBe('Bearer T')
})

describe.each([
  ['of browsers', inBrowsers.onAbort],
  ['of other runtimes', runtime.onAbort],
])('onAbort() %s', (_, onAbort) => {
  it('calls each function once when the signal aborts, except those that are forgotten', () => {
    const controller = new AbortController()
    const stops = [vi.fn(), vi.fn(), vi.fn()]
    const [forget] = stops.map((stop) => onAbort(controller.signal, stop))
    forget?.()
    controller.abort()
    controller.abort()
    expect(stops.map((stop) => stop.mock.calls.length)).toEqual([0, 1, 1])
  })

  it('calls the function immediately when the signal has aborted', () => {
    const stop = vi.fn()
    onAbort(AbortSignal.abort(), stop)()
    expect(stop).toHaveBeenCalledOnce()
  })
})

it('tells the code of a system error only outside of browsers', () => {
  const error = new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })
  expect(runtime.systemCode(error)).toBe('ECONNREFUSED')
  expect(inBrowsers.systemCode(error)).toBeUndefined()
  for (const other of [undefined, null, 'text', new Error('no cause'), { cause: { code: 'a secret' } }])
    expect(runtime.systemCode(other)).toBeUndefined()
})
