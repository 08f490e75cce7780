// Tests client/countdown.ts

import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'
import { createTokenClient } from 'express-token-endpoint/client'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { commandsOf, EPOCH, itHolds, often, type Respond, settle, type World } from './world.js'

const URL_OF_API = 'https://api.example.com'
const TOKEN_URL = `${URL_OF_API}/api/v2013/authentication/token`
const PASSWORD = 'correct-horse-battery-staple'
const SECOND = 1000
const [TIMEOUT, MAX_WAIT] = [10 * SECOND, 30 * SECOND]
const CODES = ['refused', 'try_later', 'unreachable', 'unexpected', 'signed_out', 'closed']
/** The time after which old trouble must not disturb a call. */
const CALM = 60 * SECOND
/** The most sign-ins in less than a second. Each further one has to wait for a random delay of at least half of its limit. */
const [MOST_SIGN_INS, SIGN_IN_WINDOW] = [6, 240]

/** A token of the server. Times are by the server's clock. */
interface Issued {
  readonly text: string
  readonly expiresAt: number
  readonly lifetime: number
  /** The number of sign-outs before the call that got it. */
  readonly generation: number
  /** True when the client can know its lifetime. */
  readonly isDated: boolean
  isRevoked: boolean
}

type TokenBehaviour =
  | { readonly kind: 'grant'; readonly seconds: number; readonly date: 'right' | 'none' | 'wrong' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'body'; readonly body: string }
  | { readonly kind: 'network error' | 'hang' | 'expired' }

/** The challenge of each API that refuses a token with 401. */
const CHALLENGES = {
  checks: 'Bearer realm="api", error="invalid_token"',
  'refuses all': 'Bearer realm="api", error="invalid_token"',
  'refuses without a challenge': undefined,
  'demands a step-up': 'Bearer realm="api", error="insufficient_user_authentication"',
  'other 401': 'Basic realm="api"',
}
type ApiBehaviour = keyof typeof CHALLENGES | '503' | 'network error' | 'hangs'

/** A call of the app: the sign-outs before it, and its requests. */
interface Call {
  readonly generation: number
  requests: number
}

type Kit = ReturnType<typeof create>

const USUAL: TokenBehaviour = { kind: 'grant', seconds: 600, date: 'right' }

// One for all runs, because each storage that was ever used costs time at every promise.
const calling = new AsyncLocalStorage<Call>()

function create(world: World, respond: Respond) {
  const tokenCalls = new Set<AbortSignal>()

  function issue(lifetime: number, generation: number, isDated: boolean): Issued {
    const text = `token.${kit.issued.length}.${'x'.repeat(16)}`
    const one = { text, expiresAt: kit.now() + lifetime, lifetime, generation, isDated, isRevoked: false }
    kit.issued.push(one)
    return one
  }

  /** Returns a response of the token endpoint to an account, and notes what the client learns from it. */
  function tokenResponse(generation: number, email: string): Response | Promise<never> {
    const behaviour = kit.server.token
    const isCurrent = generation === kit.generation
    const dateOf = (ms: number) => new Date(EPOCH + ms)
    const granted = (authenticationToken: string, expiresAt: number, date: string | undefined) =>
      new Response(JSON.stringify({ authenticationToken, expiration: dateOf(expiresAt).toISOString() }), {
        headers: date === undefined ? {} : { Date: date },
      })
    const httpDate = (ms: number) => dateOf(ms).toUTCString()
    if (behaviour.kind !== 'grant' || behaviour.date !== 'right') kit.troubledAt = kit.now()
    switch (behaviour.kind) {
      case 'grant': {
        const { seconds, date } = behaviour
        const token = issue(seconds * SECOND, generation, date === 'right')
        if (isCurrent) kit.held = { token, isRefused: false }
        const dates = { right: httpDate(kit.now()), none: undefined, wrong: httpDate(kit.now() - 3600 * SECOND) }
        return granted(token.text, token.expiresAt, dates[date])
      }
      case 'status': {
        const { status, retryAfter } = behaviour
        if (isCurrent && status === 403) kit.isRefused = true
        const seconds = Number(retryAfter)
        if (seconds > 0 && [429, 503].includes(status))
          kit.notBefore.set(status === 429 ? email : 'all', kit.now() + Math.min(seconds, 3600) * SECOND)
        const headers: Record<string, string> = { Location: 'https://evil.example.net/', Date: httpDate(kit.now()) }
        if (retryAfter !== undefined) headers['Retry-After'] = retryAfter
        return new Response(null, { status, headers })
      }
      case 'body':
        return new Response(behaviour.body)
      case 'expired':
        return granted('expired.expired.expired', kit.now() - SECOND, httpDate(kit.now()))
      case 'network error':
        return Promise.reject(new TypeError('fetch failed'))
      case 'hang':
        return new Promise<never>(() => {})
    }
  }

  /** Expects that a sign-in is necessary and allowed now. */
  function mustMaySignIn(email: string): void {
    const { must } = world
    const { held, jumps } = kit
    must(
      [...tokenCalls].every(({ aborted }) => aborted),
      'all calls share one sign-in',
    )
    must(kit.open > 0 || kit.hasNewCall, 'no sign-in is repeated while nobody waits')
    kit.hasNewCall = false
    must(!kit.isRefused, 'no sign-in after a 403 until the sign-out')
    must(kit.now() >= kit.opensAt(email) || jumps > 0, 'no sign-in before the time of Retry-After')
    const isOld = held && kit.now() >= held.token.expiresAt - held.token.lifetime * 0.05 - SECOND
    const isNeeded = !held || held.isRefused || isOld || !held.token.isDated || jumps > 0
    must(isNeeded, 'no sign-in while the token works')
    kit.signIns = [...kit.signIns, kit.now()].filter((at) => kit.now() - at < SIGN_IN_WINDOW)
    must(kit.signIns.length <= MOST_SIGN_INS, 'few sign-ins while an API refuses each new token')
  }

  async function callTokenEndpoint(init: RequestInit): Promise<Response> {
    const { generation } = kit
    const signal = init.signal as AbortSignal
    const { email, password } = JSON.parse(String(init.body))
    world.must(init.redirect === 'manual' && password === PASSWORD, 'the password goes to no redirect')
    mustMaySignIn(email)
    tokenCalls.add(signal)
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    aborted.catch(() => {})
    try {
      await Promise.race([respond('token endpoint'), aborted])
      return await Promise.race([tokenResponse(generation, email), aborted])
    } finally {
      tokenCalls.delete(signal)
    }
  }

  async function callStepUp(init: RequestInit): Promise<Response> {
    const call = calling.getStore() as Call
    const token = kit.issued.find(({ text }) => `Bearer ${text}` === new Headers(init.headers).get('Authorization'))
    const { password } = JSON.parse(String(init.body))
    world.must(init.redirect === 'manual' && password === PASSWORD, 'the password goes to no redirect')
    world.must(token?.generation === call.generation, "no request carries another person's token")
    const { email } = kit
    await respond('token endpoint')
    if (kit.server.token.kind === 'grant') return tokenResponse(call.generation, email)
    kit.troubledAt = kit.now()
    return new Response(null, { status: 403 })
  }

  async function callApi(init: RequestInit): Promise<Response> {
    const call = calling.getStore() as Call
    const text = new Headers(init.headers).get('Authorization')?.replace(/^Bearer /, '')
    const token = kit.issued.find((one) => one.text === text)
    world.must(token !== undefined, 'only a valid token of the token endpoint is sent')
    world.must(++call.requests <= 2, 'a request is repeated once')
    if (!token) return new Response()
    const isLive = kit.now() < token.expiresAt + SECOND
    world.must(isLive || kit.isBlind() || !token.isDated, 'no expired token is sent')
    world.must(token.generation === call.generation, "no request carries another person's token")
    await respond('API')
    const { api } = kit.server
    if (api !== 'checks') kit.troubledAt = kit.now()
    const isValid = api === 'checks' && !token.isRevoked && kit.now() < token.expiresAt
    if (isValid) return new Response('{}')
    if (api === '503') return new Response(null, { status: 503 })
    if (api === 'network error') throw new TypeError('fetch failed')
    if (api !== 'hangs') {
      const isInvalid = api !== 'other 401' && api !== 'demands a step-up'
      if (isInvalid && kit.held?.token === token) kit.held.isRefused = true
      const challenge = CHALLENGES[api]
      return new Response(null, { status: 401, headers: challenge ? { 'WWW-Authenticate': challenge } : {} })
    }
    return new Promise<never>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      hung.push(() => reject(new TypeError('fetch failed')))
    })
  }
  const hung: (() => void)[] = []

  const client = createTokenClient({
    url: URL_OF_API,
    credentials: () => ({ email: kit.email, password: PASSWORD }),
    timeout: TIMEOUT / SECOND,
    maxWait: MAX_WAIT / SECOND,
    async onStepUp() {
      await respond('owner')
      return { password: PASSWORD }
    },
    async fetch(input, init = {}) {
      const url = String(input)
      world.must(url.startsWith(`${URL_OF_API}/`), 'nothing is sent to another origin')
      if (url === `${TOKEN_URL}/confirm`) return callStepUp(init)
      return url === TOKEN_URL ? callTokenEndpoint(init) : callApi(init)
    },
  })

  const kit = {
    world,
    client,
    issued: [] as Issued[],
    server: { token: USUAL, api: 'checks' as ApiBehaviour },
    /** The token that the client holds, and whether an API has refused it. */
    held: undefined as { readonly token: Issued; isRefused: boolean } | undefined,
    /** True after a 403, until the sign-out. */
    isRefused: false,
    /** The account that signs in. */
    email: 'alice@example.com',
    /** The server asked for no call of an account, or of all, before these times. */
    notBefore: new Map<string, number>(),
    opensAt: (email: string): number => Math.max(...[email, 'all'].map((name) => kit.notBefore.get(name) ?? 0)),
    /** The last time at which a server did not behave, or a clock moved. */
    troubledAt: Number.NEGATIVE_INFINITY,
    generation: 0,
    jumps: 0,
    changes: 0,
    slept: 0,
    open: 0,
    /** True when a call has begun since the last sign-in. It may renew the token in the background. */
    hasNewCall: false,
    signIns: [] as number[],
    now: (): number => world.steady() + kit.slept,
    /** Returns whether no clock of the client shows the time that has passed: the machine slept, and its clock was set back. */
    isBlind: (): boolean => kit.slept > 0 && kit.jumps > 0,
    /** Ends the requests that hang. */
    endHung(): void {
      for (const end of hung.splice(0)) end()
    },
    async call(how: 'fetch' | 'token', signal?: AbortSignal, rejected?: Issued): Promise<void> {
      const { changes } = kit
      const { generation } = rejected ?? kit
      if (rejected && rejected === kit.held?.token) kit.held.isRefused = true
      const { isRefused, troubledAt } = kit
      const start = kit.now()
      const isCalm = () => changes === kit.changes && start - troubledAt > CALM && kit.troubledAt === troubledAt
      const call: Call = { generation, requests: 0 }
      kit.open++
      kit.hasNewCall = true
      try {
        const ask = () =>
          how === 'token'
            ? client.token({ signal, rejected: rejected?.text })
            : client.fetch('/accounts', { signal: signal ?? null })
        const result = await calling.run<Promise<string | Response>>(call, ask)
        if (typeof result === 'string') {
          const token = kit.issued.find(({ text }) => text === result)
          world.must(token?.generation === generation, 'token() returns a token of the same person')
        } else if (isCalm()) {
          world.must(
            result.status === 200 || kit.isBlind(),
            `a call gets 200 while nothing is wrong, not ${result.status}`,
          )
        }
      } catch (error) {
        const { code } = error as { code?: string }
        const isOfApi = error instanceof TypeError && error.message === 'fetch failed'
        const isKnown = isOfApi || CODES.includes(code ?? '') || signal?.aborted === true
        world.must(isKnown, `an error has a code: ${inspect(error)}`)
        const text = inspect(error, { depth: 9, showHidden: true })
        world.must(!text.includes(PASSWORD) && !text.includes('.xxxxxxxxxxxxxxxx'), 'no error shows a secret')
        const isFree = !rejected && !isRefused && start >= kit.opensAt(kit.email) + SECOND && signal?.aborted !== true
        const isQuick = kit.now() - start < SECOND
        world.must(
          !(isCalm() && isFree && isQuick) || kit.isBlind(),
          `a call does not fail while nothing is wrong: ${inspect(error)}`,
        )
      } finally {
        kit.open--
      }
    },
  }
  return kit
}

const when = commandsOf<Kit>()
/** Creates a command after which a call under way may fail. */
const whenChanged = <V>(name: string, values: fc.Arbitrary<V> | readonly V[], run: (kit: Kit, value: V) => unknown) =>
  when(name, values, (kit, value) => {
    kit.changes++
    return run(kit, value)
  })

function signOut(kit: Kit): void {
  kit.client.signOut()
  Object.assign(kit, { generation: kit.generation + 1, held: undefined, isRefused: false, signIns: [] })
}

function revoke(kit: Kit): void {
  for (const token of kit.issued) token.isRevoked = true
  kit.troubledAt = kit.now()
}

async function callAndAbort(kit: Kit, how: 'fetch' | 'token'): Promise<void> {
  const controller = new AbortController()
  void kit.call(how, controller.signal)
  await settle()
  controller.abort()
}

const of = <const V>(...values: V[]) => fc.constantFrom(...values)
const grants = fc.record({ kind: of('grant'), seconds: of(60, 600, 3600), date: of('right', 'right', 'none', 'wrong') })
const refusals = fc.oneof(
  fc.record({
    kind: of('status'),
    status: of(429, 503),
    retryAfter: of('1', '20', '120', '100000', '0', '-5', 'soon', ''),
  }),
  fc.record({ kind: of('status'), status: of(302, 400, 403, 403, 404, 429, 500, 503) }),
  fc.record({
    kind: of('body'),
    body: of(
      ...['', 'null', '{', '<html>', '{"authenticationToken":"a.b.c"}', '{"expiration":"2030-01-01T00:00:00Z"}'],
      '{"authenticationToken":"a b","expiration":"2030-01-01T00:00:00Z"}',
      '{"authenticationToken":"a\\r\\nb","expiration":"2030-01-01T00:00:00Z"}',
      '{"authenticationToken":["a"],"expiration":"2030-01-01T00:00:00Z"}',
    ),
  }),
  fc.record({ kind: of('network error', 'hang', 'expired') }),
)
const whenServer = (behaviours: fc.Arbitrary<TokenBehaviour>) =>
  whenChanged('token endpoint:', behaviours, ({ server }, behaviour) => {
    server.token = behaviour
  })

const commands = [
  ...often(
    5,
    when('call', of('fetch', 'fetch', 'token'), (kit, how) => void kit.call(how)),
  ),
  when('calls, one after the other:', [12], (kit, count) => {
    const inTurn = async () => {
      for (let i = 0; i < count; i++) await kit.call('fetch')
    }
    void inTurn()
  }),
  when('token() in place of the token before the last', fc.nat(3), (kit, age) => {
    const rejected = kit.issued.at(-1 - age)
    kit.troubledAt = kit.now()
    if (rejected) void kit.call('token', undefined, rejected)
  }),
  when('a call that is aborted', ['fetch'], callAndAbort),
  ...[grants, grants, refusals].map(whenServer),
  whenChanged<ApiBehaviour>(
    'API',
    [
      ...often<ApiBehaviour>(2, 'checks', 'refuses all', 'demands a step-up'),
      ...(['checks', 'refuses without a challenge', 'other 401', '503', 'network error', 'hangs'] as const),
    ],
    ({ server }, api) => {
      server.api = api
    },
  ),
  whenChanged('revoke', ['all'], revoke),
  whenChanged('sign out', ['once'], signOut),
  whenChanged('sign out while an API gets a revoked token', ['once'], async (kit) => {
    revoke(kit)
    void kit.call('fetch')
    await settle()
    signOut(kit)
  }),
  whenChanged(
    'sign out, and sign in as',
    ['alice@example.com', 'bob@example.com', 'carol@example.com'],
    (kit, email) => {
      signOut(kit)
      kit.email = email
      void kit.call('token')
    },
  ),
  whenChanged('a caller that gives up while the token endpoint asks to wait', ['1'], (kit, retryAfter) => {
    signOut(kit)
    kit.server.token = { kind: 'status', status: 503, retryAfter }
    return callAndAbort(kit, 'token')
  }),
  // Commands by chance rarely sign in while the token endpoint asks to wait.
  whenChanged('sign out, and sign in while the token endpoint asks to wait', ['20', '120'], (kit, retryAfter) => {
    signOut(kit)
    kit.server.token = { kind: 'status', status: 429, retryAfter }
    void kit.call('token')
  }),
  ...often(
    3,
    whenChanged('pass', [1, 250, 1000, 10_000, 20_000, 57_000, 60_000, 61_000, 570_000, 3_600_000], ({ world }, ms) =>
      world.pass(ms),
    ),
  ),
  whenChanged('sleep', [30_000, 590_000, 3_600_000], (kit, ms) => {
    kit.slept += ms
    kit.world.jump(ms)
  }),
  whenChanged('jump', [-86_400_000, -1000, 1000, 86_400_000], (kit, ms) => {
    kit.world.jump(ms)
    kit.jumps++
  }),
]

describe('the client and a server that lies', () => {
  itHolds('one sign-in at a time, only when it is necessary and allowed, and only live tokens are sent', {
    commands,
    maxCommands: 80,
    runs: 80,
    leastRandom: 0.5,
    create,
    async finish(kit, drain) {
      Object.assign(kit.server, { token: USUAL, api: 'checks' })
      for (let i = 0; i < 30 && kit.open > 0; i++) {
        await kit.world.pass(TIMEOUT)
        kit.endHung()
        await drain()
      }
      expect(kit.open).toBe(0)
      kit.client.close()
      await expect(kit.client.token()).rejects.toMatchObject({ code: 'closed' })
    },
  })
})
