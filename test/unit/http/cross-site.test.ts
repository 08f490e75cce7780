import type { IncomingHttpHeaders } from 'node:http'
import express from 'express'
import { type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { assertOwnOrigin, assertOwnSite } from '../../../src/http/cross-site.js'
import { countingHasher, fastPasswords, makeIssuer, makeStore } from '../../support/fixtures.js'
import { asForm, asJson, expectToken, GOOD, GOOD_FORM, send } from '../../support/host.js'
import { listen } from '../../support/http.js'
import { polluted } from '../../support/pollution.js'

const OTHER = 'https://evil.example'
const HOST = 'api.example.com'

/** Returns whether a form with these headers is from another site. */
function isRefused(headers: IncomingHttpHeaders, allowed: string[] = []): boolean {
  try {
    assertOwnSite({ host: HOST, ...headers }, new Set(allowed))
    return false
  } catch (error) {
    expect(error).toMatchObject({ code: 'cross_site_form', status: 415 })
    return true
  }
}

async function start(options: Partial<TokenRouterOptions> = {}) {
  const hasher = countingHasher()
  const defaults = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(hasher) }
  const { port } = await listen(express().use(tokenRouter({ ...defaults, ...options })))
  return { port, hasher }
}

const form = (headers: Record<string, string>, text = GOOD_FORM) => {
  const sent = asForm(text)
  return { ...sent, headers: { ...sent.headers, ...headers } }
}

describe('a form of a browser', () => {
  it.each<[string, boolean, IncomingHttpHeaders]>([
    ['of no browser', false, {}],
    ['of a page of this origin', false, { 'sec-fetch-site': 'same-origin', origin: `https://${HOST}` }],
    ['of a subdomain', false, { 'sec-fetch-site': 'same-site', origin: 'https://www.example.com' }],
    ['that the user has opened', false, { 'sec-fetch-site': 'none' }],
    ['of this origin, behind a proxy that changes the host', false, { 'sec-fetch-site': 'same-origin', origin: OTHER }],
    ['of this origin, with a policy that hides the origin', false, { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    ['of another site', true, { 'sec-fetch-site': 'cross-site', origin: OTHER }],
    ['of another site without an origin', true, { 'sec-fetch-site': 'cross-site' }],
    ['of another site that claims this origin', true, { 'sec-fetch-site': 'cross-site', origin: `https://${HOST}` }],
    ['of an old browser, of this origin', false, { origin: `https://${HOST}` }],
    ['of an old browser, over HTTP/2', false, { origin: `https://${HOST}`, host: undefined, ':authority': HOST }],
    ['of an old browser, with another port', false, { origin: `http://${HOST}:3000`, host: `${HOST}:8080` }],
    ['of an old browser, of an IPv6 address', false, { origin: 'http://[::1]:3000', host: '[::1]:3000' }],
    ['of an old browser, behind a proxy', false, { origin: OTHER, 'x-forwarded-host': 'evil.example' }],
    ['of an old browser, behind two', false, { origin: OTHER, 'x-forwarded-host': 'evil.example, proxy' }],
    ['of an old browser, of another site', true, { origin: OTHER }],
    ['of an old browser, of a subdomain', true, { origin: `https://www.${HOST}` }],
    ['of an old browser, of a sandboxed frame', true, { origin: 'null' }],
    ['of an old browser, of a host that is called undefined', true, { origin: 'http://undefined' }],
    ['of an old browser, to no host', true, { origin: 'null', host: '' }],
    ['of an old browser, of a name that begins like this one', true, { origin: `https://${HOST}.evil.example` }],
  ])('%s: refused %s', (_, refused, headers) => {
    expect(isRefused(headers)).toBe(refused)
  })

  it.each([
    [OTHER, [OTHER], false],
    [OTHER, ['https://evil.example:8443', OTHER], false],
    [OTHER, ['https://other.example', 'http://evil.example'], true],
    ['null', [OTHER], true],
  ])('of %s is refused unless the host allows the origin: %j', (origin, allowed, refused) => {
    expect(isRefused({ 'sec-fetch-site': 'cross-site', origin }, allowed)).toBe(refused)
    expect(isRefused({ origin }, allowed)).toBe(refused)
  })
})

describe('over HTTP', () => {
  const CROSS = { 'Sec-Fetch-Site': 'cross-site', Origin: OTHER }

  it('JSON of another site is accepted, because the browser has asked the host first', async () => {
    const { port } = await start()
    const sent = asJson(GOOD)
    expectToken(await send(port, { ...sent, headers: { ...sent.headers, ...CROSS } }))
  })

  it('a form is not judged by a polluted prototype', async () => {
    const { port } = await start()
    const statusOf = async (headers: Record<string, string>) => (await send(port, form(headers))).status
    await polluted({ 'sec-fetch-site': 'cross-site', origin: OTHER }, async () => expect(await statusOf({})).toBe(200))
    await polluted({ 'sec-fetch-site': 'same-origin' }, async () => expect(await statusOf({ Origin: OTHER })).toBe(415))
  })

  it('a form of an allowed origin is accepted', async () => {
    const { port } = await start({ allowedOrigins: [OTHER] })
    expectToken(await send(port, form(CROSS)))
    expect((await send(port, form({ ...CROSS, Origin: 'https://other.example' }))).status).toBe(415)
  })
})

it.each<[string, boolean, IncomingHttpHeaders]>([
  ['of no browser', true, {}],
  ['of a page of this origin', true, { 'sec-fetch-site': 'same-origin', origin: `https://${HOST}` }],
  ['that the user has typed', true, { 'sec-fetch-site': 'none' }],
  ['of another origin of this site', false, { 'sec-fetch-site': 'same-site', origin: 'https://www.example.com' }],
  ['of this host without https', false, { 'sec-fetch-site': 'same-site', origin: `http://${HOST}` }],
  ['of another site', false, { 'sec-fetch-site': 'cross-site', origin: OTHER }],
  ['of an older browser at this origin', true, { origin: `https://${HOST}` }],
  ['of an older browser at another origin', false, { origin: OTHER }],
  ['of an older browser at another port', false, { origin: `https://${HOST}:8443` }],
  ['of an older browser, whose host has the default port', true, { origin: `https://${HOST}`, host: `${HOST}:443` }],
  ['of an older browser at the port of another scheme', true, { origin: `https://${HOST}:80`, host: `${HOST}:80` }],
])('a request with a cookie, %s, is accepted: %s', (_, isOwn, headers) => {
  const check = () => assertOwnOrigin({ host: HOST, ...headers }, new Set())
  if (isOwn) expect(check).not.toThrow()
  else expect(check).toThrow(expect.objectContaining({ code: 'cross_site_request' }))
})
