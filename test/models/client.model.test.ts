import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'
import { createTokenClient, type TokenClient } from 'express-token-endpoint/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { command, type Respond, runModel, settle, TIME_LIMIT, type World } from './world.js'

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

type ApiBehaviour =
  | 'checks'
  | 'refuses all'
  | 'refuses without a challenge'
  | 'demands a step-up'
  | 'other 401'
  | '503'
  | 'network error'
  | 'hangs'

interface Call {
  readonly generation: number
  requests: number
}

interface Kit {
  readonly world: World
  readonly client: TokenClient
  readonly issued: Issued[]
  readonly server: { token: TokenBehaviour; api: ApiBehaviour }
  /** The token that the client holds, and whether an API has refused it. */
  held: { readonly token: Issued; isRefused: boolean } | undefined
  /** True after a 403, until the sign-out. */
  isRefused: boolean
  /** The server asked for no call before this time. */
  notBefore: number
  /** The last time at which a server did not behave, or a clock moved. */
  troubledAt: number
  generation: number
  jumps: number
  changes: number
  slept: number
  open: number
  /** True when a call has begun since the last sign-in. It may renew the token in the background. */
  hasNewCall: boolean
  signIns: number[]
  now(): number
  /** Returns whether no clock of the client shows the time that has passed: the machine slept, and its clock was set back. */
  isBlind(): boolean
  call(how: 'fetch' | 'token', signal?: AbortSignal, rejected?: Issued): Promise<void>
  /** Ends the requests that hang. */
  endHung(): void
}

const INVALID = 'Bearer realm="api", error="invalid_token"'
const STEP_UP = 'Bearer realm="api", error="insufficient_user_authentication"'
const START = Date.parse('2026-03-01T12:00:00.000Z') - 1_000_000

// One for all runs, because each storage that was ever used costs time at every promise.
const calling = new AsyncLocalStorage<Call>()

function create(world: World, respond: Respond): Kit {
  const tokenCalls = new Set<AbortSignal>()

  function issue(lifetime: number, generation: number, isDated: boolean): Issued {
    const text = `token.${kit.issued.length}.${'x'.repeat(16)}`
    const one = { text, expiresAt: kit.now() + lifetime, lifetime, generation, isDated, isRevoked: false }
    kit.issued.push(one)
    return one
  }

  /** Returns a response of the token endpoint, and notes what the client learns from it. */
  function tokenResponse(generation: number): Response | Promise<never> {
    const behaviour = kit.server.token
    const isCurrent = generation === kit.generation
    const iso = (ms: number) => new Date(START + ms).toISOString()
    const httpDate = (ms: number) => new Date(START + ms).toUTCString()
    if (behaviour.kind !== 'grant' || behaviour.date !== 'right') kit.troubledAt = kit.now()
    switch (behaviour.kind) {
      case 'grant': {
        const { seconds, date } = behaviour
        const token = issue(seconds * SECOND, generation, date === 'right')
        if (isCurrent) kit.held = { token, isRefused: false }
        const dates = {
          right: { Date: httpDate(kit.now()) },
          none: {},
          wrong: { Date: httpDate(kit.now() - 3600 * SECOND) },
        }
        const body = JSON.stringify({ authenticationToken: token.text, expiration: iso(token.expiresAt) })
        return new Response(body, { headers: dates[date] as Record<string, string> })
      }
      case 'status': {
        const { status, retryAfter } = behaviour
        if (isCurrent && status === 403) kit.isRefused = true
        const seconds = Number(retryAfter)
        if (seconds > 0 && [429, 503].includes(status)) kit.notBefore = kit.now() + Math.min(seconds, 3600) * SECOND
        const headers: Record<string, string> = { Location: 'https://evil.example.net/', Date: httpDate(kit.now()) }
        if (retryAfter !== undefined) headers['Retry-After'] = retryAfter
        return new Response(null, { status, headers })
      }
      case 'body':
        return new Response(behaviour.body)
      case 'expired': {
        const expiration = iso(kit.now() - SECOND)
        const headers = { Date: httpDate(kit.now()) }
        return new Response(JSON.stringify({ authenticationToken: 'expired.expired.expired', expiration }), { headers })
      }
      case 'network error':
        return Promise.reject(new TypeError('fetch failed'))
      case 'hang':
        return new Promise<never>(() => {})
    }
  }

  /** Expects that a sign-in is necessary and allowed now. */
  function mustMaySignIn(): void {
    const { must } = world
    const { held, jumps } = kit
    must(
      [...tokenCalls].every(({ aborted }) => aborted),
      'all calls share one sign-in',
    )
    must(kit.open > 0 || kit.hasNewCall, 'no sign-in is repeated while nobody waits')
    kit.hasNewCall = false
    must(!kit.isRefused, 'no sign-in after a 403 until the sign-out')
    must(kit.now() >= kit.notBefore || jumps > 0, 'no sign-in before the time of Retry-After')
    const isOld = held && kit.now() >= held.token.expiresAt - held.token.lifetime * 0.05 - SECOND
    const isNeeded = !held || held.isRefused || isOld || !held.token.isDated || jumps > 0
    must(isNeeded, 'no sign-in while the token works')
    kit.signIns = [...kit.signIns, kit.now()].filter((at) => kit.now() - at < SIGN_IN_WINDOW)
    must(kit.signIns.length <= MOST_SIGN_INS, 'few sign-ins while an API refuses each new token')
  }

  async function callTokenEndpoint(init: RequestInit): Promise<Response> {
    const { generation } = kit
    const signal = init.signal as AbortSignal
    world.must(init.redirect === 'manual' && String(init.body).includes(PASSWORD), 'the password goes to no redirect')
    mustMaySignIn()
    tokenCalls.add(signal)
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    aborted.catch(() => {})
    try {
      await Promise.race([respond('token endpoint'), aborted])
      return await Promise.race([tokenResponse(generation), aborted])
    } finally {
      tokenCalls.delete(signal)
    }
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
    const isRefused = !['other 401', '503', 'network error', 'hangs'].includes(api)
    if (isRefused && kit.held?.token === token) kit.held.isRefused = true
    switch (api) {
      case 'refuses without a challenge':
        return new Response(null, { status: 401 })
      case 'demands a step-up':
        return new Response(null, { status: 401, headers: { 'WWW-Authenticate': STEP_UP } })
      case 'other 401':
        return new Response(null, { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="api"' } })
      case '503':
        return new Response(null, { status: 503 })
      case 'network error':
        throw new TypeError('fetch failed')
      case 'hangs':
        return new Promise<never>((_, reject) => {
          init.signal?.addEventListener('abort', () => reject(init.signal?.reason))
          hung.push(() => reject(new TypeError('fetch failed')))
        })
      default:
        return new Response(null, { status: 401, headers: { 'WWW-Authenticate': INVALID } })
    }
  }
  const hung: (() => void)[] = []

  const fakeFetch = async (input: string | URL | Request, init: RequestInit = {}) => {
    const url = String(input)
    world.must(url.startsWith(`${URL_OF_API}/`), 'nothing is sent to another origin')
    return url === TOKEN_URL ? callTokenEndpoint(init) : callApi(init)
  }

  const client = createTokenClient({
    url: URL_OF_API,
    credentials: () => ({ email: 'alice@example.com', password: PASSWORD }),
    timeout: TIMEOUT / SECOND,
    maxWait: MAX_WAIT / SECOND,
    async onStepUp() {
      await respond('owner')
      return true
    },
    fetch: fakeFetch as typeof fetch,
  })

  const kit: Kit = {
    world,
    client,
    issued: [],
    server: { token: { kind: 'grant', seconds: 600, date: 'right' }, api: 'checks' },
    held: undefined,
    isRefused: false,
    notBefore: 0,
    troubledAt: Number.NEGATIVE_INFINITY,
    generation: 0,
    jumps: 0,
    changes: 0,
    slept: 0,
    open: 0,
    hasNewCall: false,
    signIns: [],
    now: () => world.steady() + kit.slept,
    isBlind: () => kit.slept > 0 && kit.jumps > 0,
    endHung() {
      for (const end of hung.splice(0)) end()
    },
    async call(how, signal, rejected) {
      const { changes } = kit
      const { generation } = rejected ?? kit
      if (rejected && rejected === kit.held?.token) kit.held.isRefused = true
      const [start, wasTroubledAt] = [kit.now(), kit.troubledAt]
      const isRefused = kit.isRefused
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
        } else if (changes === kit.changes && start - wasTroubledAt > CALM && kit.troubledAt === wasTroubledAt) {
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
        const isCalm = changes === kit.changes && start - wasTroubledAt > CALM && kit.troubledAt === wasTroubledAt
        const isFree = !rejected && !isRefused && start >= kit.notBefore + SECOND && signal?.aborted !== true
        const isQuick = kit.now() - start < SECOND
        world.must(
          !(isCalm && isFree && isQuick) || kit.isBlind(),
          `a call does not fail while nothing is wrong: ${inspect(error)}`,
        )
      } finally {
        kit.open--
      }
    },
  }
  return kit
}

const change = (name: string, run: (kit: Kit) => unknown) =>
  command<Kit>(name, (kit) => {
    kit.changes++
    return run(kit)
  })

function signOut(kit: Kit): void {
  kit.client.signOut()
  Object.assign(kit, { generation: kit.generation + 1, held: undefined, isRefused: false, signIns: [] })
}

const grants = fc.record({
  kind: fc.constant('grant' as const),
  seconds: fc.constantFrom(60, 600, 3600),
  date: fc.constantFrom(...(['right', 'right', 'none', 'wrong'] as const)),
})
const refusals = fc.oneof(
  fc
    .record({
      kind: fc.constant('status' as const),
      status: fc.constantFrom(429, 503),
      retryAfter: fc.constantFrom('1', '20', '120', '100000', '0', '-5', 'soon', ''),
    })
    .map((behaviour): TokenBehaviour => behaviour),
  fc.constantFrom(302, 400, 403, 403, 404, 429, 500, 503).map((status): TokenBehaviour => ({ kind: 'status', status })),
  fc
    .constantFrom(
      ...['', 'null', '{', '<html>', '{"authenticationToken":"a.b.c"}', '{"expiration":"2030-01-01T00:00:00Z"}'],
      '{"authenticationToken":"a b","expiration":"2030-01-01T00:00:00Z"}',
      '{"authenticationToken":"a\\r\\nb","expiration":"2030-01-01T00:00:00Z"}',
      '{"authenticationToken":["a"],"expiration":"2030-01-01T00:00:00Z"}',
    )
    .map((body): TokenBehaviour => ({ kind: 'body', body })),
  fc.constantFrom(...(['network error', 'hang', 'expired'] as const)).map((kind): TokenBehaviour => ({ kind })),
)
const apis = fc.constantFrom<ApiBehaviour>(
  ...(['checks', 'checks', 'checks', 'refuses all', 'refuses all', 'refuses without a challenge'] as const),
  ...(['other 401', '503', 'network error', 'hangs', 'demands a step-up', 'demands a step-up'] as const),
)

const commands = [
  ...Array.from({ length: 5 }, () =>
    fc.constantFrom(...(['fetch', 'fetch', 'token'] as const)).map((how) =>
      command<Kit>(how, (kit) => {
        void kit.call(how)
      }),
    ),
  ),
  fc.constant(
    command<Kit>('12 calls, one after the other', (kit) => {
      const inTurn = async () => {
        for (let i = 0; i < 12; i++) await kit.call('fetch')
      }
      void inTurn()
    }),
  ),
  fc.nat(3).map((age) =>
    command<Kit>(`token() in place of the token before the last ${age}`, (kit) => {
      const rejected = kit.issued.at(-1 - age)
      kit.troubledAt = kit.now()
      if (rejected) void kit.call('token', undefined, rejected)
    }),
  ),
  fc.constant(
    command<Kit>('a call that is aborted', async (kit) => {
      const controller = new AbortController()
      void kit.call('fetch', controller.signal)
      await settle()
      controller.abort()
    }),
  ),
  ...[grants, grants, refusals].map((behaviours) =>
    behaviours.map((behaviour) =>
      change(`token endpoint: ${JSON.stringify(behaviour)}`, ({ server }) => {
        server.token = behaviour
      }),
    ),
  ),
  apis.map((api) =>
    change(`API: ${api}`, ({ server }) => {
      server.api = api
    }),
  ),
  fc.constant(
    change('revoke', (kit) => {
      for (const token of kit.issued) token.isRevoked = true
      kit.troubledAt = kit.now()
    }),
  ),
  fc.constant(change('sign out', signOut)),
  fc.constant(
    change('a caller that gives up while the token endpoint asks to wait', async (kit) => {
      signOut(kit)
      kit.server.token = { kind: 'status', status: 503, retryAfter: '1' }
      const controller = new AbortController()
      void kit.call('token', controller.signal)
      await settle()
      controller.abort()
    }),
  ),
  // Commands by chance rarely sign in while the token endpoint asks to wait.
  fc.constantFrom('20', '120').map((retryAfter) =>
    change(`sign out, and sign in while the token endpoint asks to wait ${retryAfter} s`, (kit) => {
      signOut(kit)
      kit.server.token = { kind: 'status', status: 429, retryAfter }
      void kit.call('token')
    }),
  ),
  ...[1, 2, 3].map(() =>
    fc
      .constantFrom(1, 250, 1000, 10_000, 20_000, 57_000, 60_000, 61_000, 570_000, 3_600_000)
      .map((ms) => change(`pass ${ms} ms`, ({ world }) => world.pass(ms))),
  ),
  fc.constantFrom(30_000, 590_000, 3_600_000).map((ms) =>
    change(`sleep ${ms} ms`, (kit) => {
      kit.slept += ms
      kit.world.jump(ms)
    }),
  ),
  fc.constantFrom(-86_400_000, -1000, 1000, 86_400_000).map((ms) =>
    change(`jump ${ms} ms`, (kit) => {
      kit.world.jump(ms)
      kit.jumps++
    }),
  ),
]

describe('the client and a server that lies', () => {
  it(
    'one sign-in at a time, only when it is necessary and allowed, and only live tokens are sent',
    async () => {
      await runModel<Kit>({
        commands,
        maxCommands: 80,
        runs: 80,
        leastRandom: 0.5,
        create,
        async finish(kit, drain) {
          kit.server.api = 'checks'
          kit.server.token = { kind: 'grant', seconds: 600, date: 'right' }
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
    },
    TIME_LIMIT,
  )
})
