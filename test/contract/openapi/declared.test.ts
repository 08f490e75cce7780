import type { SessionStore } from 'express-token-endpoint'
import { openApiDocument } from 'express-token-endpoint/openapi'
import { describe, expect, it } from 'vitest'
import { REFUSALS } from '../../../src/errors/codes.js'
import { endpointsAt, FEATURES } from '../../../src/features/features.js'
import { codesOf, successesOf } from '../../../src/http/declaration.js'
import { pathsBelow } from '../../../src/http/endpoint.js'
import { GUARDED_REQUESTS } from '../../../src/http/request-limits.js'
import { ACCOUNT_FEATURES, FACTOR_FEATURES } from '../../support/account-app.js'
import { deferred, until } from '../../support/concurrency.js'
import { documented, invalidBodyIn } from '../../support/documents/documented.js'
import { type Answer, asJson, FORM_TYPE, GOOD, JSON_TYPE, packageOn, type Sent, send } from '../../support/host.js'
import { bearer, EXPRESS, flood, listen, TOKEN_PATH } from '../../support/http.js'

const PATHS = { token: TOKEN_PATH, sessions: '/sessions', account: '', keys: '/.well-known/jwks.json' }
const ON = { signIn: true, refresh: true, keys: true, sessions: true, stepUp: true }
const MOUNTED = endpointsAt(PATHS, ON)

/** The refusals of the guard that each guarded endpoint can have. The other ones need an option of the guard. */
const OF_GUARD = ['invalid_request', 'missing_token', 'invalid_token', 'overloaded', 'unavailable']

/** Returns what each endpoint declares: statuses of successes, and codes. */
const declared = () =>
  MOUNTED.flatMap(({ endpoint }) => {
    const codes = [...codesOf(endpoint)].filter((code) => !REFUSALS[code].unseen)
    const all = [
      ...successesOf(endpoint).map(([status]) => String(status)),
      ...codes,
      ...(endpoint.guard ? OF_GUARD : []),
    ]
    return all.map((one) => `${endpoint.id} ${one}`)
  })

describe.each(EXPRESS)('each declared response of each endpoint, on %s', async (_name, express) => {
  const { createAuth, createLimits, memoryStore, signingKey, ...fixtures } = await packageOn(express)
  const { ISSUER, makeStore, fastPasswords } = fixtures

  it('is seen, and no other', async () => {
    let isDown = false
    const held = deferred<void>()
    let isHolding = false
    let listing = 0
    const store = memoryStore().sessions
    const failing = Object.fromEntries(
      Object.entries(store).map(([name, call]) => [
        name,
        async (...args: unknown[]) => {
          if (isDown) throw new Error('down')
          if (name === 'list' && isHolding) {
            listing++
            await held.promise
          }
          return (call as (...all: unknown[]) => unknown).apply(store, args)
        },
      ]),
    ) as unknown as SessionStore
    const accounts = makeStore()
    const auth = createAuth({
      issuer: ISSUER,
      keys: signingKey('ES256'),
      accounts: {
        findByEmail: async (email: string) =>
          isDown ? Promise.reject(new Error('down')) : accounts.findByEmail(email, {} as never),
        findById: accounts.findById,
      },
      passwords: fastPasswords(),
      store: { sessions: failing },
      secret: 'secret r'.repeat(4),
      refresh: (req) => req.headers['x-mode'] as 'cookie' | 'body' | undefined,
      limits: createLimits({ limits: { pair: { points: 2, duration: '15m' } } }),
      timeout: '1m',
      onEvent() {},
    })
    const { port } = await listen(express().disable('x-powered-by').use(auth.router))
    const document = openApiDocument(auth.openApi)
    const { check } = documented(document, { moreHeaders: true })
    const seen = new Set<string>()

    const mounted = (id: string) => MOUNTED.find(({ endpoint }) => endpoint.id === id) as (typeof MOUNTED)[number]

    function note(id: string, answer: Pick<Answer, 'status' | 'headers' | 'body'>): void {
      const { at, endpoint } = mounted(id)
      const isEmptyRefusal = answer.status >= 400 && answer.body === ''
      const hasEmpty = [...codesOf(endpoint)].some(
        (one) => REFUSALS[one].empty && REFUSALS[one].status === answer.status,
      )
      // OpenAPI has no optional body, so a document names none for a status that may have one.
      if (!hasEmpty) check(pathsBelow(at, endpoint.path)[0], endpoint.method.toLowerCase(), answer)
      const { code } = JSON.parse(answer.body || '{}')
      const empty = [...codesOf(endpoint)].find((one) => REFUSALS[one].empty)
      seen.add(`${id} ${answer.status < 400 ? answer.status : isEmptyRefusal ? empty : code}`)
    }

    async function ask(id: string, sent: Sent = {}, params: Record<string, string> = {}): Promise<Answer> {
      const { at, endpoint } = mounted(id)
      const path = pathsBelow(at, endpoint.path)[0].replace(/\{(\w+)\}/g, (_, name) => params[name] ?? 'none')
      const answer = await send(port, { method: endpoint.method, path, ...sent })
      note(id, answer)
      return answer
    }

    const inBody = (body: object): Sent => ({ headers: { ...JSON_TYPE, 'x-mode': 'body' }, body: JSON.stringify(body) })
    const signedIn = async () => JSON.parse((await ask('issueToken', inBody(GOOD))).body)
    const guarded = (token: string): Sent => ({ headers: bearer(token).headers })

    const { refreshToken } = await signedIn()
    const next = JSON.parse((await ask('refreshToken', inBody({ refreshToken }))).body)
    await ask('endSignIn', inBody({ refreshToken: next.refreshToken }))
    await ask('refreshToken', inBody({ refreshToken: next.refreshToken }))
    await ask('issueToken', asJson({ ...GOOD, password: 'wrong' }))
    await ask('refreshToken', { headers: { 'x-mode': 'cookie' } })
    await ask('listTokenKeys')

    for (const id of ['issueToken', 'refreshToken', 'endSignIn']) {
      const mode = { 'x-mode': 'body' }
      await ask(id, { headers: { ...mode, 'Content-Type': 'text/plain' }, body: 'x' })
      await ask(id, { headers: { ...mode, ...FORM_TYPE, 'Sec-Fetch-Site': 'cross-site' }, body: 'a=b' })
      await ask(id, { headers: { ...mode, ...JSON_TYPE }, body: JSON.stringify({ more: 'x'.repeat(20_000) }) })
      expect(JSON.parse((await ask(id, inBody({}))).body).detail).toBe(invalidBodyIn(document, mounted(id)))
      await ask(id, { headers: { ...JSON_TYPE, 'x-mode': 'cookie', 'Sec-Fetch-Site': 'same-site' }, body: '{}' })
      // Of one connection, at most 16 requests wait before they are read.
      const { at, endpoint } = mounted(id)
      const sent = { method: 'POST', path: pathsBelow(at, endpoint.path)[0], ...inBody({}) }
      const answers = await flood(port, 100, () => sent, 1)
      for (const answer of answers.filter(({ status }) => status === 503).slice(0, 1)) note(id, answer as Answer)
    }

    const one = await signedIn()
    const two = await signedIn()
    const list = JSON.parse((await ask('listSessions', guarded(one.authenticationToken))).body)
    const other = list.sessions.find(({ current }: { current: boolean }) => !current)
    await ask('endSession', guarded(one.authenticationToken), { id: other.id })
    await ask('endSession', guarded(one.authenticationToken), { id: other.id })
    await ask('endOtherSessions', guarded(one.authenticationToken))
    for (const { endpoint } of MOUNTED.filter(({ endpoint: { guard } }) => guard)) {
      const { id } = endpoint
      await ask(id)
      await ask(id, { headers: { Authorization: 'Bearer a b' } })
      await ask(id, guarded(two.authenticationToken))
    }
    const confirming = (token: string, body: object): Sent => {
      const { headers, ...sent } = asJson(body)
      return { ...sent, headers: { ...headers, ...bearer(token).headers } }
    }
    const three = (await signedIn()).authenticationToken
    const confirm = (body: object) => ask('stepUp', confirming(three, body))
    await confirm({ password: GOOD.password })
    expect(JSON.parse((await confirm({})).body).detail).toBe(invalidBodyIn(document, mounted('stepUp')))
    await confirm({ more: 'x'.repeat(20_000) })
    await ask('stepUp', { headers: { ...bearer(three).headers, 'Content-Type': 'text/plain' }, body: 'x' })
    const ofOtherSite = { ...bearer(three).headers, ...FORM_TYPE, 'Sec-Fetch-Site': 'cross-site' }
    await ask('stepUp', { headers: ofOtherSite, body: 'a=b' })
    await confirm({ password: 'wrong' })
    const many = { method: 'POST', path: `${TOKEN_PATH}/confirm`, ...confirming(three, {}) }
    const confirmed = await flood(port, 100, () => many, 1)
    for (const answer of confirmed.filter(({ status }) => status === 503).slice(0, 1)) note('stepUp', answer as Answer)
    for (const { endpoint } of MOUNTED) await ask(endpoint.id, { method: 'PATCH' })

    // As many requests of one network as may wait for the store.
    isHolding = true
    const listed = { method: 'GET', path: '/sessions', ...guarded(one.authenticationToken) }
    const waiting = flood(port, GUARDED_REQUESTS.perNetwork, () => listed)
    await until(() => expect(listing).toBe(GUARDED_REQUESTS.perNetwork))
    for (const { endpoint } of MOUNTED.filter(({ endpoint: { guard } }) => guard))
      await ask(endpoint.id, guarded(one.authenticationToken))
    isHolding = false
    held.resolve()
    await waiting

    isDown = true
    await ask('issueToken', inBody({ ...GOOD, email: 'bob@example.com' }))
    await ask('refreshToken', inBody({ refreshToken: one.refreshToken }))
    await ask('endSignIn', inBody({ refreshToken: one.refreshToken }))
    for (const { endpoint } of MOUNTED.filter(({ endpoint: { guard } }) => guard))
      await ask(endpoint.id, guarded(one.authenticationToken))
    isDown = false

    await ask('signOut', guarded(one.authenticationToken))
    for (let i = 0; i < 2; i++) await ask('issueToken', asJson({ ...GOOD, password: 'wrong' }))
    await confirm({ password: GOOD.password })
    const all = [...new Set(declared())]
    expect(all.filter((one) => !seen.has(one))).toEqual([])
    expect([...seen].filter((one) => !all.includes(one))).toEqual([])
    expect(Object.keys(FEATURES).sort()).toEqual(
      Object.keys({ ...ON, ...ACCOUNT_FEATURES, ...FACTOR_FEATURES, passkeys: true, passkeySignIn: true }).sort(),
    )
  })
})
