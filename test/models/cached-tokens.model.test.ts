import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type AccountStore,
  type AuthError,
  createTokenIssuer,
  createTokenVerifier,
  type GuardedRequest,
  type PrivateTokenKey,
  remoteKeys,
  requireBearer,
  type VerifiedToken,
} from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ISSUER, issueNow, signingKey } from '../support/fixtures.js'
import { pairOf } from '../support/keys.js'
import { command, type Respond, runModel, settle, TIME_LIMIT, type World } from './world.js'

const SECOND = 1000
const [TIMEOUT, COOLDOWN, MAX_AGE] = [5 * SECOND, 30 * SECOND, 600 * SECOND]
const NAMES = ['one', 'two', 'three'] as const
const ACCOUNTS = ['acc-1', 'acc-2'] as const
/** Smaller than the number of tokens, so that tokens leave the cache too. */
const CACHE = 2

type KeyName = (typeof NAMES)[number]

/** The clock of the issuers, which live longer than a run. */
let now = () => 0
const issuerOf = (name: KeyName) => {
  const keys: PrivateTokenKey = { ...signingKey('ES256', name), kid: name }
  return createTokenIssuer({ issuer: ISSUER, keys, lifetime: '2h', clock: () => now() })
}
const issuers = { one: issuerOf('one'), two: issuerOf('two'), three: issuerOf('three') }

interface Token {
  readonly text: string
  readonly id: string
  readonly accountId: string
  readonly key: KeyName
  /** The times, in milliseconds. */
  readonly issuedAt: number
  readonly expiresAt: number
  isRevoked: boolean
}

/** An account, and the last moment at which it could be used. Moments are the numbers of changes of all kinds. */
interface AccountState {
  isDisabled: boolean
  validAfter: number | undefined
  usableUntil: number
}

/** A fetch of the set that the keys of the remote guard come from. */
interface Fetch {
  readonly startedAt: number
  /** The number of times at which the clock was set before. */
  readonly jumps: number
  keys: readonly KeyName[] | undefined
}

type HostBehaviour = 'works' | 'fails' | 'hangs' | 'returns another value'

interface Kit {
  readonly world: World
  readonly tokens: Token[]
  readonly revoked: Set<string>
  readonly accounts: Map<string, AccountState>
  readonly fetches: Fetch[]
  readonly host: { revocation: HostBehaviour; accounts: HostBehaviour }
  /** The keys at the URL, and the time at which each removed key was removed. */
  published: readonly KeyName[]
  readonly removedAt: Map<KeyName, { readonly wall: number; readonly steady: number; readonly jumps: number }>
  /** The last time at which a fetch took too long. Keys may then be kept for an hour. */
  slowAt: number
  ring: readonly KeyName[]
  /** The number of changes so far. */
  changes: number
  jumps: number
  open: number
  rotateRing(keys: readonly KeyName[]): void
  request(guard: 'ring' | 'remote', token: Token): void
  /** Sends a token whose text was changed. */
  requestChanged(token: Token): void
}

/** One request, for the functions of the host that it calls. */
interface Ask {
  hasFailed: boolean
}

// One for all runs, because each storage that was ever used costs time at every promise.
const asking = new AsyncLocalStorage<Ask>()

function create(world: World, respond: Respond): Kit {
  now = world.wall

  /** Responds as the host's function behaves at the time of the response. */
  async function hostResult<T>(part: 'revocation' | 'accounts', result: () => T): Promise<T> {
    await respond(part)
    const ask = asking.getStore() as Ask
    const behaviour = kit.host[part]
    if (behaviour !== 'works') ask.hasFailed = true
    if (behaviour === 'fails') throw new Error('down')
    if (behaviour === 'hangs') return new Promise<never>(() => {})
    return behaviour === 'works' ? result() : ('another value' as T)
  }
  const isRevoked = ({ id }: VerifiedToken) => hostResult('revocation', () => kit.revoked.has(id))
  const store: AccountStore & Required<Pick<AccountStore, 'findById'>> = {
    findByEmail: () => undefined,
    findById: (id) =>
      hostResult('accounts', () => {
        const state = kit.accounts.get(id) as AccountState
        const after = state.validAfter
        const tokensValidAfter = after === undefined ? {} : { tokensValidAfter: new Date(after) }
        return { id, passwordHash: null, disabled: state.isDisabled, ...tokensValidAfter }
      }),
  }

  async function fetchKeys(): Promise<Response> {
    const one: Fetch = { startedAt: world.wall(), jumps: kit.jumps, keys: undefined }
    kit.fetches.push(one)
    const started = world.steady()
    await respond('keys')
    const keys = kit.published
    if (world.steady() - started < TIMEOUT) one.keys = keys
    else kit.slowAt = world.steady()
    return new Response(JSON.stringify({ keys: keys.flatMap((name) => issuers[name].jwks().keys) }))
  }
  globalThis.fetch = fetchKeys as typeof fetch

  const remote = createTokenVerifier({
    issuer: ISSUER,
    keys: remoteKeys('https://keys.example.com/jwks.json', { clock: world.wall, onError: () => {} }),
    clock: world.wall,
    cache: CACHE,
  })
  const ringOf = (names: readonly KeyName[]) => {
    const keys = names.map((name) => ({ alg: 'ES256', publicKey: pairOf('ES256', name).publicKey, kid: name }) as const)
    return createTokenVerifier({ issuer: ISSUER, keys, clock: world.wall, cache: CACHE })
  }
  const guardOf = (tokens: typeof remote) => requireBearer({ tokens, isRevoked, accounts: store, onEvent: () => {} })
  const guards = { remote: guardOf(remote), ring: guardOf(ringOf(NAMES)) }

  const kit: Kit = {
    world,
    tokens: [],
    revoked: new Set(),
    accounts: new Map(ACCOUNTS.map((id) => [id, { isDisabled: false, validAfter: undefined, usableUntil: Infinity }])),
    fetches: [],
    host: { revocation: 'works', accounts: 'works' },
    published: NAMES,
    removedAt: new Map(),
    slowAt: 0,
    ring: NAMES,
    changes: 0,
    jumps: 0,
    open: 0,
    rotateRing(keys) {
      kit.ring = keys
      guards.ring = guardOf(ringOf(keys))
    },
    requestChanged({ text }) {
      const headers = { authorization: `Bearer ${text}` }
      const req = { headers, rawHeaders: [], url: '/', socket: {} } as unknown as GuardedRequest
      const admitted = () => world.must(false, 'a token that differs in one character is refused')
      for (const guard of Object.values(guards)) {
        asking.run({ hasFailed: false }, () => guard.authenticate(req)).then(admitted, () => {})
      }
    },
    request(guard, token) {
      const account = kit.accounts.get(token.accountId) as AccountState
      const ask: Ask = { hasFailed: false }
      const start = { ...kit, wall: world.wall(), steady: world.steady(), fetched: kit.fetches.length }
      const isRevokedBefore = token.isRevoked
      const isSuperseded = account.validAfter !== undefined && token.issuedAt < account.validAfter
      const lastSet = kit.fetches.findLast(({ keys }) => keys)
      const removedAt = kit.removedAt.get(token.key)
      const isInTime = () => world.wall() >= token.issuedAt && world.wall() < token.expiresAt
      const wasInTime = isInTime()
      const isSilent = kit.fetches.some(({ keys }) => !keys)

      function mustAdmit(): boolean {
        const hadKey =
          guard === 'ring'
            ? start.ring.includes(token.key)
            : lastSet?.keys?.includes(token.key) === true &&
              start.wall - lastSet.startedAt < MAX_AGE / 2 &&
              start.wall >= lastSet.startedAt
        const isUnchanged = kit.changes === start.changes && !token.isRevoked && !isSuperseded && !account.isDisabled
        const hostWorks = !ask.hasFailed && world.steady() - start.steady < TIMEOUT
        return hadKey && isUnchanged && hostWorks && wasInTime && isInTime()
      }

      function checkAdmission(auth: VerifiedToken): void {
        const { must } = world
        must(auth.id === token.id && auth.accountId === token.accountId, 'req.auth is the token of the request')
        const isSteadyTime = kit.jumps === start.jumps
        must(wasInTime || !isSteadyTime, 'an expired token is refused')
        must(world.wall() < token.expiresAt || !isSteadyTime, 'a token that expires during a check is refused')
        must(!isRevokedBefore, 'a revoked token is refused')
        must(!isSuperseded, 'a token from before tokensValidAfter is refused')
        must(
          !account.isDisabled || account.usableUntil > start.changes,
          'a token of an account that cannot sign in is refused',
        )
        must(!ask.hasFailed, 'nothing passes while a function of the host fails')
        if (guard === 'ring') {
          must(start.ring.includes(token.key), 'a key that left the ring verifies nothing')
          return
        }
        const sets = [lastSet, ...kit.fetches.slice(start.fetched), ...(isSilent ? kit.fetches.slice(-2) : [])]
        must(
          sets.some((set) => set?.keys?.includes(token.key)),
          'the key of a cached token is checked on every request',
        )
        // A clock that is set back makes the last set younger.
        const isSteady = [removedAt?.jumps, lastSet?.jumps].every((jumps) => jumps === kit.jumps)
        // A request that waits for a fetch may get a key that is published again.
        const isGone = removedAt !== undefined && kit.removedAt.get(token.key) === removedAt
        const isLongGone = isGone && isSteady && start.wall - removedAt.wall > MAX_AGE
        must(!isLongGone || kit.slowAt >= removedAt.steady, 'a removed key verifies nothing after 10 minutes')
      }

      function checkRefusal({ code, reason }: AuthError): void {
        world.must(!mustAdmit(), `a valid token passes, and does not get ${code} ${reason}`)
        if (ask.hasFailed) world.must(code === 'unavailable', 'a failure of the host is 503, not 401')
        if (reason === 'revoked') world.must(token.isRevoked, 'only a revoked token is refused as revoked')
        if (reason === 'expired') world.must(!wasInTime || !isInTime(), 'only an expired token is refused as expired')
      }

      kit.open++
      const headers = { authorization: `Bearer ${token.text}` }
      const req = { headers, rawHeaders: [], url: '/', socket: {} } as unknown as GuardedRequest
      asking
        .run(ask, () => guards[guard].authenticate(req))
        .then((auth) => checkAdmission(auth as VerifiedToken), checkRefusal)
        .finally(() => kit.open--)
        .catch((error) => world.must(false, String(error)))
    },
  }
  for (const name of NAMES) issue(kit, name, ACCOUNTS[0], '2h')
  return kit
}

/** Changes an account, and notes until when it could be used. */
function changeAccount(kit: Kit, id: string, change: (state: AccountState) => void): void {
  const state = kit.accounts.get(id) as AccountState
  const wasDisabled = state.isDisabled
  change(state)
  kit.changes++
  if (!state.isDisabled) state.usableUntil = Infinity
  else if (!wasDisabled) state.usableUntil = kit.changes
}

const withToken = (name: string, run: (kit: Kit, token: Token) => unknown) =>
  fc.nat(MOST_TOKENS - 1).map((at) =>
    command<Kit>(
      `${name} ${at}`,
      (kit) => run(kit, kit.tokens[at % kit.tokens.length] as Token),
      ({ tokens }) => tokens.length > 0,
    ),
  )

const withAccount = (name: string, change: (state: AccountState, kit: Kit) => void) =>
  fc
    .constantFrom(...ACCOUNTS)
    .map((id) => command<Kit>(`${name} ${id}`, (kit) => changeAccount(kit, id, (state) => change(state, kit))))

const HOST: HostBehaviour[] = [...Array(9).fill('works'), 'fails', 'hangs', 'returns another value']
const MOST_TOKENS = 5

function issue({ tokens, world }: Kit, key: KeyName, accountId: string, lifetime: string): Token {
  const { token: text, id, expiresAt } = issueNow(issuers[key], { accountId, lifetime })
  const issuedAt = Math.floor(world.wall() / SECOND) * SECOND
  // Few tokens, so that many requests are for a cached one.
  if (tokens.length === MOST_TOKENS) tokens.shift()
  const token = { text, id, accountId, key, issuedAt, expiresAt: expiresAt.getTime(), isRevoked: false }
  tokens.push(token)
  return token
}

/** Changes the keys at the URL. */
function publish(kit: Kit, keys: readonly KeyName[]): void {
  const { world, jumps, removedAt, published } = kit
  for (const name of NAMES) {
    if (keys.includes(name)) removedAt.delete(name)
    else if (published.includes(name)) removedAt.set(name, { wall: world.wall(), steady: world.steady(), jumps })
  }
  kit.published = keys
  kit.changes++
}

async function removeKey(kit: Kit, key: KeyName): Promise<void> {
  const others = kit.published.filter((name) => name !== key)
  publish(kit, others)
  await kit.world.pass(MAX_AGE + 1)
}

function setClock(kit: Kit, ms: number): void {
  kit.jumps++
  kit.world.jump(ms)
}

/**
 * Issues a token and requests it, and again after a change, when it is cached. Commands by chance rarely do so with a token that
 * nothing else refuses.
 */
const withCached = (name: string, guard: 'ring' | 'remote', change: (kit: Kit, token: Token) => unknown) =>
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...ACCOUNTS)).map(([key, accountId]) =>
    command<Kit>(`${name} a cached token by ${key} for ${accountId}`, async (kit) => {
      const token = issue(kit, key, accountId, '2h')
      kit.request(guard, token)
      await settle()
      await change(kit, token)
      kit.request(guard, token)
      await settle()
    }),
  )

const commands = [
  ...[1, 2].map(() =>
    fc
      .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...ACCOUNTS), fc.constantFrom('60s', '20 min', '2h', '2h'))
      .map(([key, accountId, lifetime]) =>
        command<Kit>(`issue by ${key} for ${accountId}, ${lifetime}`, (kit) => issue(kit, key, accountId, lifetime)),
      ),
  ),
  ...(['ring', 'remote', 'ring', 'remote', 'ring', 'remote', 'ring', 'remote'] as const).map((guard) =>
    withToken(`request to ${guard} with`, (kit, token) => kit.request(guard, token)),
  ),
  fc.oneof(
    ...[-1, 0, 1].map((offset) =>
      withToken(`pass until ${offset} ms after the end of`, ({ world }, { expiresAt }) =>
        world.pass(Math.max(0, expiresAt + offset - world.wall())),
      ),
    ),
  ),
  withToken('request with a changed', (kit, token) => {
    // The end of the text, which a cache may look at first, stays.
    const text = token.text.replace(/\.(.)/, (_, first: string) => `.${first === 'e' ? 'f' : 'e'}`)
    kit.requestChanged({ ...token, text })
  }),
  withToken('revoke', (kit, token) => {
    token.isRevoked = true
    kit.revoked.add(token.id)
    kit.changes++
  }),
  withAccount('disable', (state) => {
    state.isDisabled = true
  }),
  withAccount('enable', (state) => {
    state.isDisabled = false
  }),
  withAccount('sign out everywhere', (state, { world }) => {
    state.validAfter = Math.max(state.validAfter ?? 0, world.wall())
  }),
  fc
    .oneof(fc.constant(NAMES), fc.subarray([...NAMES]))
    .map((keys) => command<Kit>(`publish ${keys}`, (kit) => publish(kit, keys))),
  withToken('remove for 10 minutes the key of', (kit, { key }) => removeKey(kit, key)),
  withCached('remove for 10 minutes the key of', 'remote', (kit, { key }) => removeKey(kit, key)),
  withCached('set the clock back under', 'ring', (kit) => setClock(kit, -SECOND)),
  fc.constantFrom(...ACCOUNTS).map((accountId) =>
    command<Kit>(`request with a token of ${accountId} in its last second`, async (kit) => {
      const token = issue(kit, kit.ring[0] ?? NAMES[0], accountId, '60s')
      await kit.world.pass(token.expiresAt - SECOND - kit.world.wall())
      kit.request('ring', token)
      await kit.world.pass(SECOND)
    }),
  ),
  fc
    .oneof(fc.constant(NAMES), fc.subarray([...NAMES], { minLength: 1 }))
    .map((keys) => command<Kit>(`rotate the ring to ${keys}`, (kit) => kit.rotateRing(keys))),
  ...(['revocation', 'accounts'] as const).map((part) =>
    fc.constantFrom(...HOST).map((behaviour) =>
      command<Kit>(`${part} ${behaviour}`, (kit) => {
        kit.host[part] = behaviour
      }),
    ),
  ),
  fc
    .constantFrom(1, 500, 4999, 5000, COOLDOWN, MAX_AGE / 2, MAX_AGE, MAX_AGE + 1)
    .map((ms) => command<Kit>(`pass ${ms} ms`, ({ world }) => world.pass(ms))),
  fc
    .constantFrom(-3_600_000, -1000, -1, 3_600_000)
    .map((ms) => command<Kit>(`jump ${ms} ms`, (kit) => setClock(kit, ms))),
]

describe('cached tokens, keys, revocation and the clock', () => {
  it(
    'a token passes only while its times, its key, its account and the host allow it, and then it does',
    async () => {
      await runModel<Kit>({
        commands,
        maxCommands: 120,
        runs: 40,
        create,
        async finish(kit, drain) {
          for (let step = 0; step < 4; step++) {
            await kit.world.pass(TIMEOUT)
            await drain()
          }
          expect(kit.open).toBe(0)
        },
      })
    },
    TIME_LIMIT,
  )
})
