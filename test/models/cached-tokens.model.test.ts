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
import { describe, expect, vi } from 'vitest'
import { ISSUER, issueNow, signingKey } from '../support/fixtures.js'
import { pairOf } from '../support/keys.js'
import { commandsOf, itHolds, often, type Respond, settle, type World } from './world.js'

const SECOND = 1000
const [TIMEOUT, COOLDOWN, MAX_AGE] = [5 * SECOND, 30 * SECOND, 600 * SECOND]
const NAMES = ['one', 'two', 'three'] as const
const ACCOUNTS = ['acc-1', 'acc-2'] as const
/** Smaller than the number of tokens, so that tokens leave the cache too. */
const CACHE = 2

/** Few tokens, so that many requests are for a cached one. */
const MOST_TOKENS = 5

type KeyName = (typeof NAMES)[number]
type Guard = 'ring' | 'remote'
type HostBehaviour = 'works' | 'fails' | 'hangs' | 'returns another value'

const issuerOf = (name: KeyName) => {
  const keys: PrivateTokenKey = { ...signingKey('ES256', name), kid: name }
  return createTokenIssuer({ issuer: ISSUER, keys, lifetime: '2h' })
}
const issuers = { one: issuerOf('one'), two: issuerOf('two'), three: issuerOf('three') }

type Kit = ReturnType<typeof create>
type Token = ReturnType<typeof issue>
type AccountState = ReturnType<typeof newAccount>

/** An account, and the last moment at which it could be used. Moments are the numbers of changes of all kinds. */
const newAccount = () => ({ isDisabled: false, validAfter: undefined as number | undefined, usableUntil: Infinity })

/** Creates a token. Times are in milliseconds. */
function issue(key: KeyName, accountId: string, lifetime: string) {
  const { token: text, id, expiresAt } = issueNow(issuers[key], { accountId, lifetime })
  const issuedAt = Date.now()
  const iat = Math.floor(issuedAt / SECOND) * SECOND
  return { text, id, accountId, key, issuedAt, iat, expiresAt: +expiresAt }
}

/** A fetch of the set that the keys of the remote guard come from. */
interface Fetch {
  readonly startedAt: number
  /** The number of times at which the clock was set before. */
  readonly jumps: number
  keys: readonly KeyName[] | undefined
}

/** One request, for the functions of the host that it calls. */
interface Ask {
  hasFailed: boolean
}

// One for all runs, because each storage that was ever used costs time at every promise.
const asking = new AsyncLocalStorage<Ask>()

function create(world: World, respond: Respond) {
  const tokens: Token[] = []
  const revoked = new Set<string>()
  const accounts = Object.fromEntries(ACCOUNTS.map((id) => [id, newAccount()]))
  const fetches: Fetch[] = []
  const host = { revocation: 'works' as HostBehaviour, accounts: 'works' as HostBehaviour }

  /** Responds as the host's function behaves at the time of the response. */
  async function hostResult<T>(part: 'revocation' | 'accounts', result: () => T): Promise<T> {
    await respond(part)
    const ask = asking.getStore() as Ask
    const behaviour = host[part]
    if (behaviour !== 'works') ask.hasFailed = true
    if (behaviour === 'fails') throw new Error('down')
    if (behaviour === 'hangs') return new Promise<never>(() => {})
    return behaviour === 'works' ? result() : ('another value' as T)
  }
  const isRevoked = ({ id }: VerifiedToken) => hostResult('revocation', () => revoked.has(id))
  const store: AccountStore & Required<Pick<AccountStore, 'findById'>> = {
    findByEmail: () => undefined,
    findById: (id) =>
      hostResult('accounts', () => {
        const { validAfter, isDisabled: disabled } = accounts[id] as AccountState
        const tokensValidAfter = validAfter === undefined ? {} : { tokensValidAfter: new Date(validAfter) }
        return { id, passwordHash: null, disabled, ...tokensValidAfter }
      }),
  }

  async function fetchKeys(): Promise<Response> {
    const one: Fetch = { startedAt: world.wall(), jumps: kit.jumps, keys: undefined }
    fetches.push(one)
    const started = world.steady()
    await respond('keys')
    const keys = kit.published
    if (world.steady() - started < TIMEOUT) one.keys = keys
    else kit.slowAt = world.steady()
    return new Response(JSON.stringify({ keys: keys.flatMap((name) => issuers[name].jwks().keys) }))
  }
  vi.stubGlobal('fetch', fetchKeys)

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

  const requestOf = (text: string) => {
    const headers = { authorization: `Bearer ${text}` }
    return { headers, rawHeaders: [], url: '/', socket: {} } as unknown as GuardedRequest
  }

  const kit = {
    ...{ world, tokens, revoked, accounts, fetches, host },
    /** The keys at the URL, and the time at which each removed key was removed. */
    published: NAMES as readonly KeyName[],
    removedAt: new Map<KeyName, { readonly wall: number; readonly steady: number; readonly jumps: number }>(),
    /** The last time at which a fetch took too long. Keys may then be kept for an hour. */
    slowAt: 0,
    ring: NAMES as readonly KeyName[],
    /** The number of changes so far. */
    changes: 0,
    jumps: 0,
    open: 0,
    rotateRing(keys: readonly KeyName[]): void {
      kit.ring = keys
      guards.ring = guardOf(ringOf(keys))
    },
    /** Sends a token whose text was changed. */
    requestChanged(text: string): void {
      const admitted = () => world.must(false, 'a token that differs in one character is refused')
      for (const guard of Object.values(guards)) {
        asking.run({ hasFailed: false }, () => guard.authenticate(requestOf(text))).then(admitted, () => {})
      }
    },
    request(guard: Guard, token: Token): void {
      const account = accounts[token.accountId] as AccountState
      const ask: Ask = { hasFailed: false }
      const start = { ...kit, wall: world.wall(), steady: world.steady(), fetched: fetches.length }
      const isRevokedBefore = revoked.has(token.id)
      const isSuperseded = account.validAfter !== undefined && token.issuedAt < account.validAfter
      const lastSet = fetches.findLast(({ keys }) => keys)
      const removedAt = kit.removedAt.get(token.key)
      const isInTime = () => world.wall() >= token.iat && world.wall() < token.expiresAt
      const wasInTime = isInTime()
      const isSilent = fetches.some(({ keys }) => !keys)

      function mustAdmit(): boolean {
        const hadKey =
          guard === 'ring'
            ? start.ring.includes(token.key)
            : lastSet?.keys?.includes(token.key) === true &&
              start.wall - lastSet.startedAt < MAX_AGE / 2 &&
              start.wall >= lastSet.startedAt
        const isUnchanged =
          kit.changes === start.changes && !revoked.has(token.id) && !isSuperseded && !account.isDisabled
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
        const sets = [lastSet, ...fetches.slice(start.fetched), ...(isSilent ? fetches.slice(-2) : [])]
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
        if (reason === 'revoked') world.must(revoked.has(token.id), 'only a revoked token is refused as revoked')
        if (reason === 'expired') world.must(!wasInTime || !isInTime(), 'only an expired token is refused as expired')
      }

      kit.open++
      asking
        .run(ask, () => guards[guard].authenticate(requestOf(token.text)))
        .then((auth) => checkAdmission(auth as VerifiedToken), checkRefusal)
        .finally(() => kit.open--)
        .catch((error) => world.must(false, String(error)))
    },
  }
  for (const name of NAMES) add(kit, issue(name, ACCOUNTS[0], '2h'))
  return kit
}

function add({ tokens }: Pick<Kit, 'tokens'>, token: Token): Token {
  if (tokens.length === MOST_TOKENS) tokens.shift()
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

async function removeKey(kit: Kit, { key }: Token): Promise<void> {
  publish(
    kit,
    kit.published.filter((name) => name !== key),
  )
  await kit.world.pass(MAX_AGE + 1)
}

function setClock(kit: Kit, ms: number): void {
  kit.jumps++
  kit.world.jump(ms)
}

const when = commandsOf<Kit>()
const names = fc.constantFrom(...NAMES)
const accountIds = fc.constantFrom(...ACCOUNTS)

const whenToken = (name: string, run: (kit: Kit, token: Token) => unknown) =>
  when(
    name,
    fc.nat(MOST_TOKENS - 1),
    (kit, at) => run(kit, kit.tokens[at % kit.tokens.length] as Token),
    ({ tokens }) => tokens.length > 0,
  )

/** Changes an account, and notes until when it could be used. */
const whenAccount = (name: string, change: (state: AccountState, kit: Kit) => void) =>
  when(name, accountIds, (kit, id) => {
    const state = kit.accounts[id] as AccountState
    const wasDisabled = state.isDisabled
    change(state, kit)
    kit.changes++
    if (!state.isDisabled) state.usableUntil = Infinity
    else if (!wasDisabled) state.usableUntil = kit.changes
  })

/**
 * Issues a token and requests it, and again after a change, when it is cached. Commands by chance rarely do so with a token that
 * nothing else refuses.
 */
const whenCached = (name: string, guard: Guard, change: (kit: Kit, token: Token) => unknown) =>
  when(`${name} a cached token`, fc.tuple(names, accountIds), async (kit, [key, accountId]) => {
    const token = add(kit, issue(key, accountId, '2h'))
    kit.request(guard, token)
    await settle()
    await change(kit, token)
    kit.request(guard, token)
    await settle()
  })

const whenHost = (part: 'revocation' | 'accounts') =>
  when<HostBehaviour>(
    part,
    [...often(9, 'works' as const), 'fails', 'hangs', 'returns another value'],
    (kit, behaviour) => {
      kit.host[part] = behaviour
    },
  )

const commands = [
  ...often(
    2,
    when(
      'issue',
      fc.tuple(names, accountIds, fc.constantFrom('60s', '20 min', '2h', '2h')),
      (kit, [key, accountId, lifetime]) => add(kit, issue(key, accountId, lifetime)),
    ),
  ),
  ...often(
    4,
    whenToken('request to ring with', (kit, token) => kit.request('ring', token)),
    whenToken('request to remote with', (kit, token) => kit.request('remote', token)),
  ),
  fc.oneof(
    ...[-1, 0, 1].map((offset) =>
      whenToken(`pass until ${offset} ms after the end of`, ({ world }, { expiresAt }) =>
        world.pass(Math.max(0, expiresAt + offset - world.wall())),
      ),
    ),
  ),
  // The end of the text, which a cache may look at first, stays.
  whenToken('request with a changed', (kit, { text }) =>
    kit.requestChanged(text.replace(/\.(.)/, (_, first: string) => `.${first === 'e' ? 'f' : 'e'}`)),
  ),
  whenToken('revoke', (kit, { id }) => {
    kit.revoked.add(id)
    kit.changes++
  }),
  whenAccount('disable', (state) => {
    state.isDisabled = true
  }),
  whenAccount('enable', (state) => {
    state.isDisabled = false
  }),
  whenAccount('sign out everywhere', (state, { world }) => {
    state.validAfter = Math.max(state.validAfter ?? 0, world.wall())
  }),
  when('publish', fc.oneof(fc.constant(NAMES), fc.subarray([...NAMES])), publish),
  whenToken('remove for 10 minutes the key of', removeKey),
  whenCached('remove for 10 minutes the key of', 'remote', removeKey),
  whenCached('set the clock back under', 'ring', (kit) => setClock(kit, -SECOND)),
  when('request with a token in its last second', accountIds, async (kit, accountId) => {
    const token = add(kit, issue(kit.ring[0] ?? NAMES[0], accountId, '60s'))
    await kit.world.pass(token.expiresAt - SECOND - kit.world.wall())
    kit.request('ring', token)
    // The token is verified before its last second passes.
    await settle()
    await kit.world.pass(SECOND)
  }),
  when('rotate the ring to', fc.oneof(fc.constant(NAMES), fc.subarray([...NAMES], { minLength: 1 })), (kit, keys) =>
    kit.rotateRing(keys),
  ),
  ...[whenHost('revocation'), whenHost('accounts')],
  when('pass', [1, 500, 4999, 5000, COOLDOWN, MAX_AGE / 2, MAX_AGE, MAX_AGE + 1], ({ world }, ms) => world.pass(ms)),
  when('jump', [-3_600_000, -1000, -1, 3_600_000], setClock),
]

describe('cached tokens, keys, revocation and the clock', () => {
  itHolds('a token passes only while its times, its key, its account and the host allow it, and then it does', {
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
})
