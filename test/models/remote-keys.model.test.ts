import {
  type AuthError,
  createTokenIssuer,
  createTokenVerifier,
  discoverKeys,
  type PrivateTokenKey,
  type RemoteKeys,
  type RemoteKeysOptions,
  remoteKeys,
} from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, vi } from 'vitest'
import { forge, ISSUER, issueNow, signingKey } from '../support/fixtures.js'
import { pairOf } from '../support/keys.js'
import { commandsOf, EPOCH, itHolds, often, type Respond, type World } from './world.js'

const URL_OF_KEYS = 'https://keys.example.com/jwks.json'
const MOVED = 'https://keys.example.com/moved.json'
const METADATA = ['openid-configuration', 'oauth-authorization-server'].map((name) => `${ISSUER}/.well-known/${name}`)
const SECOND = 1000
const [TIMEOUT, COOLDOWN, MAX_AGE, KEEP_FOR] = [5 * SECOND, 30 * SECOND, 600 * SECOND, 3600 * SECOND]
const SIZE_LIMIT = 102_400
const CHUNK = 4096

/** Keys: the id and the material. Two keys may have one id. */
const KEYS = [
  { kid: 'k1', material: 'one' },
  { kid: 'k1', material: 'two' },
  { kid: 'k2', material: 'two' },
  { kid: 'k3', material: 'three' },
]
type Key = (typeof KEYS)[number]

const privateKey = ({ kid, material }: Key): PrivateTokenKey => ({ ...signingKey('ES256', material), kid })
const publicJwk = ({ material }: Key) => pairOf('ES256', material).publicKey.export({ format: 'jwk' })

/** The forms of a key in a JWK set. Only the first two can verify. */
const FORMS = {
  usual: (key: Key) => ({ ...publicJwk(key), kid: key.kid, alg: 'ES256', use: 'sig' }),
  'without alg': (key: Key) => ({ ...publicJwk(key), kid: key.kid }),
  'other alg': (key: Key) => ({ ...publicJwk(key), kid: key.kid, alg: 'ES384' }),
  'RSA alg': (key: Key) => ({ ...publicJwk(key), kid: key.kid, alg: 'RS256' }),
  secret: ({ kid }: Key) => ({ kty: 'oct', k: Buffer.from(CONFUSED).toString('base64url'), kid, alg: 'HS256' }),
} satisfies Record<string, (key: Key) => object>
type Form = keyof typeof FORMS
const isUsable = (form: Form) => form === 'usual' || form === 'without alg'

/** The secret that a lying source publishes. */
const CONFUSED = 'a secret that a lying source publishes as a key'.repeat(2)

/** Issued a month before the run, because commands set the clock back. They outlive every run. */
const ISSUED_AT = EPOCH / 1000 - 30 * 86_400
const FOREVER = { iat: ISSUED_AT, exp: ISSUED_AT + 300 * 86_400 }

function tokenOf(key: Key) {
  const clock = () => ISSUED_AT * 1000
  const issuer = createTokenIssuer({ issuer: ISSUER, keys: privateKey(key), lifetime: '300 days', clock })
  return { text: issueNow(issuer, { accountId: 'acc-1' }).token, key }
}
/** The tokens, and the keys that signed them. The one without a key must never pass. */
const TOKENS: readonly { readonly text: string; readonly key?: Key }[] = [
  ...KEYS.map(tokenOf),
  {
    text: forge(
      { alg: 'HS256', typ: 'at+jwt', kid: 'k2' },
      { iss: ISSUER, aud: ISSUER, sub: 'acc-1', client_id: ISSUER, jti: 'forged', ...FOREVER },
      CONFUSED,
      'HS256',
    ),
  },
]

type KeySet = readonly (readonly [form: Form, key: Key])[]

/** The behaviour of the source: with a set of keys, or without one. */
type Behaviour =
  | { readonly kind: 'keys' | 'huge'; readonly keys: KeySet }
  | { readonly kind: 'status'; readonly status: number; readonly keys: KeySet }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hang' | 'refuse' | 'bytes' | 'endless body' | 'broken body' }

const of = <const K extends Behaviour['kind']>(...kinds: K[]) => fc.constantFrom(...kinds)
const keys = fc.array(
  fc.tuple(fc.constantFrom('usual', 'usual', ...(Object.keys(FORMS) as Form[])), fc.constantFrom(...KEYS)),
  { maxLength: 4 },
)
const honest = fc.record({ kind: of('keys'), keys })
const lies = fc.oneof(
  fc.record({ kind: of('status'), status: fc.constantFrom(201, 203, 204, 301, 302, 304, 404, 500, 503), keys }),
  fc.record({
    kind: of('text'),
    text: fc.constantFrom('', 'null', '[]', '{}', '<html>', '{"keys":{}}', '{"keys":[', '{"keys":"k1"}'),
  }),
  fc.record({ kind: of('huge'), keys }),
  fc.record({ kind: of('hang', 'refuse', 'bytes', 'endless body', 'broken body') }),
)

/** The metadata of the issuer: which of the two URLs has it, and the URL of the keys in it. */
interface Metadata {
  readonly kind: 'valid' | 'of another issuer' | 'down' | 'hang'
  readonly at: string
  readonly names: string
}
const metadata: fc.Arbitrary<Metadata> = fc.record({
  kind: fc.constantFrom('valid', 'valid', 'valid', 'of another issuer', 'down', 'hang'),
  at: fc.constantFrom(...METADATA),
  names: fc.constantFrom(URL_OF_KEYS, MOVED),
})

/**
 * A refresh of the keys, as the model knows it. With `discoverKeys` it has up to three fetches. `startedAt` is by the clock of the kit, and
 * `giveUpAt`, the end of the time limit of its last fetch, by the steady clock.
 */
const newRefresh = (order: number, startedAt: number, giveUpAt: number) => ({
  ...{ order, startedAt, giveUpAt, isDone: false },
  /** The keys by their id, from a valid response. Undefined until then, and after a lie. */
  keys: undefined as ReadonlyMap<string, string> | undefined,
  /** False after invalid metadata. Always true with `remoteKeys`. */
  hasMetadata: true,
})
type Refresh = ReturnType<typeof newRefresh>

/** Returns whether the source has responded with valid keys, and before with valid metadata. */
const isComplete = ({ keys, hasMetadata }: Refresh) => keys !== undefined && hasMetadata

type Kit = ReturnType<typeof create>

/** Returns the keys that a set holds: the first usable key of each id. */
function usableKeys(set: KeySet): ReadonlyMap<string, string> {
  const keys = new Map<string, string>()
  for (const [form, { kid, material }] of set) if (isUsable(form) && !keys.has(kid)) keys.set(kid, material)
  return keys
}

const textOf = (set: KeySet) => JSON.stringify({ keys: set.map(([form, key]) => FORMS[form](key)) })

/** Returns the chunks of a body, which are made when they are read. */
async function* chunksOf(text: string, onRead: (size: number) => void, end?: () => Promise<never>) {
  for (let at = 0; at < text.length; at += CHUNK) {
    const chunk = new TextEncoder().encode(text.slice(at, at + CHUNK))
    onRead(chunk.length)
    yield chunk
  }
  await end?.()
}

function respondTo(behaviour: Behaviour, onRead: (size: number) => void): Response | Promise<never> {
  const hang = () => new Promise<never>(() => {})
  switch (behaviour.kind) {
    case 'keys':
      return new Response(textOf(behaviour.keys))
    case 'status': {
      const { status, keys } = behaviour
      const headers = { Location: 'https://evil.example.net/jwks.json' }
      return new Response([204, 304].includes(status) ? null : textOf(keys), { status, headers })
    }
    case 'text':
      return new Response(behaviour.text)
    case 'huge':
      return new Response(chunksOf(textOf(behaviour.keys).padEnd(3 * SIZE_LIMIT), onRead))
    case 'bytes':
      return new Response(Uint8Array.of(0x7b, 0xff, 0x7d))
    case 'endless body':
      return new Response(chunksOf('{"keys":[', onRead, hang))
    case 'broken body':
      return new Response(chunksOf('{"keys":[', onRead, () => Promise.reject(new Error('reset'))))
    case 'refuse':
      return Promise.reject(new TypeError('fetch failed'))
    case 'hang':
      return hang()
  }
}

const createRemote = (world: World, respond: Respond) =>
  create(world, respond, (options) => remoteKeys(URL_OF_KEYS, options), [URL_OF_KEYS])
const createDiscovered = (world: World, respond: Respond) =>
  create(world, respond, (options) => discoverKeys(ISSUER, options), [...METADATA, URL_OF_KEYS])

/** @param urls the URLs of a refresh, in their order */
function create(world: World, respond: Respond, keysWith: (options: RemoteKeysOptions) => RemoteKeys, urls: string[]) {
  const refreshes: Refresh[] = []
  const usual: Behaviour = { kind: 'keys', keys: KEYS.map((key) => ['usual', key] as const) }
  const source = {
    behaviour: usual as Behaviour,
    metadata: { kind: 'valid', at: METADATA[0], names: URL_OF_KEYS } as Metadata,
  }
  /** The URL of the keys in the last valid metadata. */
  let keysUrl = urls.length === 1 ? URL_OF_KEYS : undefined
  /** The URL that the next fetch must have. The first of them begins a refresh. */
  let [next] = urls
  let [read, elapsed] = [world.wall(), 0]
  /** Returns the time that the keys know: it stops while the wall clock is earlier than at the last reading. */
  const time = () => elapsed + Math.max(0, world.wall() - read)
  function clock(): number {
    elapsed = time()
    read = world.wall()
    return read
  }

  function begin(): Refresh {
    const last = refreshes.at(-1)
    const one = newRefresh(refreshes.length, time(), world.steady() + TIMEOUT)
    world.must(!last || isDone(world, last), 'shares one fetch')
    world.must(!last || one.startedAt - last.startedAt >= COOLDOWN, 'fetches at most once in 30 s')
    refreshes.push(one)
    return one
  }

  async function respondToFetch(url: unknown, init: RequestInit = {}): Promise<Response> {
    world.must(String(url) === next, 'fetches only the URL that it was created with, or that the metadata names')
    world.must(init.redirect === 'manual', 'follows no redirect')
    const one = next === urls[0] ? begin() : (refreshes.at(-1) as Refresh)
    one.giveUpAt = world.steady() + TIMEOUT
    const aborted = new Promise<never>((_, reject) =>
      init.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
    )
    aborted.catch(() => {})
    const at = urls.indexOf(String(url))
    if (urls.length > 1 && METADATA.includes(String(url))) {
      // Changed below when valid metadata comes before the time limit.
      one.hasMetadata = false
      next = urls[at + 1] === METADATA[1] ? METADATA[1] : (keysUrl ?? urls[0])
      await Promise.race([respond('metadata'), aborted])
      return Promise.race([metadataOf(one, String(url)), aborted])
    }
    next = urls[0]
    await Promise.race([respond('source'), aborted])
    const { behaviour } = source
    if (world.steady() < one.giveUpAt && !['hang', 'endless body'].includes(behaviour.kind)) one.isDone = true
    if (one.isDone && behaviour.kind === 'keys') one.keys = usableKeys(behaviour.keys)
    let size = 0
    const onRead = (length: number) => {
      size += length
      world.must(size <= SIZE_LIMIT + CHUNK, 'reads at most 102,400 bytes')
    }
    return Promise.race([respondTo(behaviour, onRead), aborted])
  }

  function metadataOf(one: Refresh, url: string): Response | Promise<never> {
    const { kind, at, names } = source.metadata
    if (kind === 'hang') return new Promise<never>(() => {})
    if (world.steady() < one.giveUpAt && at === url && kind === 'valid') {
      one.hasMetadata = true
      keysUrl = names
      next = names
    } else if (next === urls[0]) one.isDone = true
    if (kind === 'down' || at !== url) return new Response('', { status: kind === 'down' ? 503 : 404 })
    const issuer = kind === 'valid' ? ISSUER : `${ISSUER}/other`
    return Response.json({ issuer, jwks_uri: kind === 'valid' ? names : 'https://evil.example.net/jwks.json' })
  }

  vi.stubGlobal('fetch', respondToFetch)
  const keys = keysWith({ clock, onError: () => {} })
  const verifier = createTokenVerifier({ issuer: ISSUER, keys, clock: world.wall, cache: 10 })
  /** Keys expire at once when the clock jumps ahead during their fetch. */
  return { world, source, verifier, refreshes, open: 0, hasJumpedAhead: false, time, longest: urls.length * TIMEOUT }
}

const isDone = (world: World, { isDone, giveUpAt }: Refresh) => isDone || world.steady() >= giveUpAt
const doneRefreshes = ({ refreshes, world }: Kit) => refreshes.filter((one) => isDone(world, one))
const lastValid = (kit: Kit) => doneRefreshes(kit).findLast(({ keys }) => keys)
/** Returns when the source last responded as it should, at a refresh or before it. */
const heardAt = (refreshes: readonly Refresh[], until = Number.POSITIVE_INFINITY) =>
  refreshes.findLast((one) => isComplete(one) && one.order <= until)?.startedAt ?? Number.NEGATIVE_INFINITY

const isWithin = (span: number, since: number, now: number) => now - since < span

/** Verifies a token, and compares the result with what the refreshes before and after it allow. */
async function verify(kit: Kit, { text, key }: (typeof TOKENS)[number]): Promise<void> {
  const { world, verifier, refreshes, longest } = kit
  const [start, started] = [kit.time(), world.steady()]
  const before = lastValid(kit)
  const asked = doneRefreshes(kit).at(-1)
  const isKnown =
    before !== undefined &&
    isWithin(KEEP_FOR, heardAt(doneRefreshes(kit)), start) &&
    isWithin(MAX_AGE, asked?.startedAt ?? Number.NEGATIVE_INFINITY, start)
  const mustPass = key !== undefined && isKnown && before.keys?.get(key.kid) === key.material
  kit.open++
  const call = verifier.verify(text)
  const isFetching = refreshes.some((one) => !isDone(world, one))
  const rests = asked !== undefined && isWithin(COOLDOWN, asked.startedAt, start)
  world.must(mustPass || !key || isKnown || isFetching || rests, 'fetches the keys for a token with an unknown key')
  const error = await call.then(
    () => undefined,
    (thrown: AuthError) => thrown,
  )
  kit.open--
  world.must(world.steady() - started <= longest, 'each fetch ends after 5 s')
  const after = doneRefreshes(kit)
  if (!error) {
    const usable = after.filter(({ keys, order }) => keys && order >= (before?.order ?? 0))
    const sets = usable.filter(({ keys }) => key && keys?.get(key.kid) === key.material)
    world.must(sets.length > 0, 'a token passes only with a key of the last valid set')
    const isKept = ({ order }: Refresh) => start - heardAt(after, order) < KEEP_FOR
    world.must(sets.some(isKept), 'a removed key verifies nothing after an hour while the source is down')
    const isFresh = ({ startedAt }: Refresh) => start - startedAt < MAX_AGE
    world.must(after.some(isFresh), 'a removed key verifies nothing after 10 minutes')
    return
  }
  world.must(!mustPass, 'a token of a cached key passes, also while the source is down')
  const last = after.at(-1)
  if (error.code === 'unavailable') world.must(!last || !isComplete(last), 'unavailable only after a fetch that failed')
  else if (error.reason === 'unknown_key') {
    const lacksKey = !key || last?.keys?.get(key.kid) === undefined
    world.must(last !== undefined && isComplete(last), 'a token is not refused as invalid while the source is down')
    world.must(lacksKey || kit.hasJumpedAhead, 'a token is not refused while its key is in the last set')
  } else world.must(['signature', 'algorithm'].includes(error.reason ?? ''), `no other refusal: ${error.reason}`)
}

/** The moments at which a rule begins or ends, after the start of the last fetch. */
const SPANS = [0, TIMEOUT, 2 * TIMEOUT, COOLDOWN, MAX_AGE / 2, MAX_AGE, KEEP_FOR]

const when = commandsOf<Kit>()
const whenSource = (behaviours: fc.Arbitrary<Behaviour>) =>
  when('source', behaviours, ({ source }, behaviour) => {
    source.behaviour = behaviour
  })

const whenMetadata = when('metadata', metadata, ({ source }, behaviour) => {
  source.metadata = behaviour
})

const commands = [
  ...often(
    4,
    when('verify token', [...TOKENS.keys()], (kit, at) => void verify(kit, TOKENS[at] as (typeof TOKENS)[number])),
  ),
  ...[honest, honest, lies].map(whenSource),
  ...often(
    3,
    when(
      'pass until a moment after the last valid fetch',
      fc.tuple(fc.constantFrom(...SPANS), fc.constantFrom(-1, 0, 1)),
      (kit, [span, offset]) => {
        const since = (lastValid(kit) ?? kit.refreshes.at(-1))?.startedAt ?? kit.time()
        return kit.world.pass(Math.max(0, since + span + offset - kit.time()))
      },
    ),
  ),
  when('pass', [1, 4999, 29_999, 30_000, 299_999, 600_000], ({ world }, ms) => world.pass(ms)),
  when('jump', [-KEEP_FOR, -MAX_AGE, -1, KEEP_FOR], (kit, ms) => {
    if (ms > 0) kit.hasJumpedAhead = true
    kit.world.jump(ms)
  }),
]

describe('remote keys and a source that lies', () => {
  const finish = async (kit: Kit, drain: () => Promise<void>) => {
    // Each drain lets the next fetch of a refresh begin.
    for (let i = 0; i < 3; i++) {
      await kit.world.pass(TIMEOUT)
      await drain()
    }
    expect(kit.open).toBe(0)
  }

  itHolds('a token passes only with a key of a valid set, and no removed key outlives its time', {
    ...{ commands, maxCommands: 60, runs: 80, create: createRemote, finish },
  })

  itHolds('the keys of an issuer follow its metadata, and outlive its metadata only for their time', {
    ...{ commands: [...commands, ...often(2, whenMetadata)], maxCommands: 60, runs: 80 },
    ...{ create: createDiscovered, finish },
  })
})
