// Tests client/sign-in/attempts.ts

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type Credentials,
  type CredentialsRequest,
  createTokenClient,
  type RefusedSignIn,
  type StepFields,
  TokenClientError,
  type TokenClientOptions,
} from 'express-token-endpoint/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../support/concurrency.js'
import { rejectionOf } from '../support/failures.js'

const URL_OF_API = 'https://api.example.com'
const ALICE = { email: 'alice@example.com', password: 'secret' }
const WRONG = 403
const GRANTED = 200

type Answer = number | Response | (() => Response)
type Given = Credentials | StepFields | Promise<Credentials | StepFields>

const granted = () =>
  Response.json({ authenticationToken: 'T', expiration: new Date(Date.now() + 3_600_000).toISOString() })

/** The problem details of a refusal. */
const problem = (code: unknown, { status = 403, type = 'application/problem+json', detail = `About ${code}` } = {}) =>
  new Response(JSON.stringify({ status, code, detail }), { status, headers: { 'Content-Type': type } })

const needsCode = () => problem('code_required')
const wrongCode = () => problem('wrong_code')

/**
 * Creates a client of a person.
 * @param answers the responses of the token endpoint, in order. The last one is repeated
 * @param returns the values that the app returns, in order. The last one is repeated
 */
function open(answers: Answer[], returns: (Given | (() => Given))[], options: Partial<TokenClientOptions> = {}) {
  const bodies: unknown[] = []
  const asked: CredentialsRequest[] = []
  const api = createTokenClient({
    url: URL_OF_API,
    interactive: true,
    credentials(request) {
      const given = returns[Math.min(asked.push(request), returns.length) - 1] as Given | (() => Given)
      return typeof given === 'function' ? given() : given
    },
    fetch: async (_, init) => {
      const answer = answers[Math.min(bodies.push(JSON.parse(String(init?.body))), answers.length) - 1] as Answer
      if (answer === GRANTED) return granted()
      if (typeof answer === 'number') return new Response('', { status: answer })
      return typeof answer === 'function' ? answer() : answer.clone()
    },
    ...options,
  })
  onTestFinished(api.close)
  const codes = () => asked.map(({ refused }) => (refused ? refused.code : false))
  return { api, bodies, asked, codes }
}

describe('the credentials of a sign-in', () => {
  it('are sent with every further member, in JSON', async () => {
    const members = { ...ALICE, code: '1', device: { name: 'Phone', ids: [1, null] }, remember: false }
    const { api, bodies } = open([GRANTED], [{ ...members, none: undefined }])
    await api.token()
    expect(bodies).toEqual([members])
  })

  it('may have the type of an interface of the app, or further members', () => {
    interface Own {
      email: string
      password: string
    }
    const own: Own = ALICE
    const options: TokenClientOptions['credentials'][] = [
      () => own,
      async () => ({ ...ALICE, code: '1' }),
      () => new Promise((resolve) => resolve({ ...ALICE, code: '1' })),
      ({ refused }) => (refused ? { code: '1' } : ALICE),
      // @ts-expect-error: the password is missing
      () => ({ email: 'alice@example.com' }),
    ]
    expect(options).toHaveLength(5)
  })

  it('are only own members: those of a prototype are not sent', async () => {
    const { api, bodies } = open([GRANTED], [Object.assign(Object.create({ code: '1' }), ALICE)])
    await api.token()
    expect(bodies).toEqual([ALICE])
  })

  it('that are not JSON end the sign-in with a TypeError, and nothing is sent', async () => {
    const { api, bodies } = open([GRANTED], [{ ...ALICE, big: 1n }])
    await expect(api.token()).rejects.toThrow(TypeError)
    expect(bodies).toEqual([])
  })
})

describe('a person who has to enter a code', () => {
  it('is asked for the code, which is added to the credentials of this sign-in', async () => {
    const { api, bodies, asked } = open([needsCode, GRANTED], [{ ...ALICE, remember: false }, { code: '1' }])
    expect(await api.token()).toBe('T')
    const refused: RefusedSignIn = { code: 'code_required', detail: 'About code_required' }
    expect(asked.map((request) => request.refused)).toEqual([false, refused])
    expect(bodies).toEqual([
      { ...ALICE, remember: false },
      { ...ALICE, remember: false, code: '1' },
    ])
  })

  it('may send everything again, in place of the credentials before', async () => {
    const bob = { email: 'bob@example.com', password: 'other' }
    const { api, bodies } = open([needsCode, GRANTED], [{ ...ALICE, device: 'x' }, bob])
    await api.token()
    expect(bodies[1]).toEqual(bob)
  })

  it('can mistype the password and the code', async () => {
    const { api, codes } = open([WRONG, needsCode, wrongCode, GRANTED], [ALICE, ALICE, { code: '1' }, { code: '2' }])
    expect(await api.token()).toBe('T')
    expect(codes()).toEqual([false, 'invalid_credentials', 'code_required', 'wrong_code'])
  })

  it('is told of a wrong password without a detail, and must then enter everything', async () => {
    const { api, asked, bodies } = open([needsCode, WRONG], [ALICE, { code: '1' }, { code: '2' }])
    await expect(api.token()).rejects.toThrow('"credentials" must return { email, password }')
    expect(asked[2]?.refused).toEqual({ code: 'invalid_credentials', detail: undefined })
    expect(bodies).toHaveLength(2)
  })

  it('is asked 5 times in one sign-in, and nothing is sent after the last refusal until a sign-out', async () => {
    const typed = ['1', '2', '3', '4'].map((code) => ({ code }))
    const { api, bodies, codes } = open([needsCode, wrongCode], [ALICE, ...typed, ALICE])
    const error = await rejectionOf(api.token())
    expect(error).toMatchObject({ code: 'refused', status: 403, refused: { code: 'wrong_code' } })
    expect([bodies.length, codes().length]).toEqual([5, 5])
    expect(await rejectionOf(api.token())).toBe(error)
    expect(api.state.error).toBe(error)
    expect(bodies).toHaveLength(5)
    api.signOut()
    await rejectionOf(api.token())
    expect(bodies.length).toBeGreaterThan(5)
    expect(codes()[5]).toBe(false)
  })

  it('is not asked for ever by an app that returns the same again: it is sent twice', async () => {
    const { api, bodies, asked } = open([needsCode], [ALICE])
    await expect(api.token()).rejects.toMatchObject({ refused: { code: 'code_required' } })
    expect([bodies.length, asked.length]).toEqual([2, 2])
  })

  it('begins anew after an error of the app, which ends the sign-in with it', async () => {
    const stop = new Error('Verify your address')
    const fail = () => {
      throw stop
    }
    const { api, codes, bodies } = open(
      [WRONG, () => problem('email_not_verified'), GRANTED],
      [ALICE, ALICE, fail, ALICE],
    )
    expect(await rejectionOf(api.token())).toBe(stop)
    expect(api.state.error).toBe(stop)
    expect(await api.token()).toBe('T')
    expect(codes()).toEqual([false, 'invalid_credentials', 'email_not_verified', false])
    expect(bodies).toHaveLength(3)
  })
})

describe('a refusal with a code', () => {
  it('is final without a person', async () => {
    const { api, bodies, asked } = open([needsCode], [ALICE], { interactive: false })
    for (let call = 0; call < 3; call++) {
      const error = await rejectionOf(api.token())
      expect(error).toBeInstanceOf(TokenClientError)
      const refused = { code: 'code_required', detail: 'About code_required' }
      expect(error).toMatchObject({ code: 'refused', status: 403, refused, retryAt: undefined })
      expect(String(error)).toContain('No token: refused (403): code_required')
    }
    expect([bodies.length, asked.length]).toEqual([1, 1])
  })

  it.each([400, 401, 402, 409, 451, 499])('may have the status %i', async (status) => {
    const { api, codes } = open([() => problem('terms', { status }), GRANTED], [ALICE, { accept: true }])
    await api.token()
    expect(codes()).toEqual([false, 'terms'])
  })

  it.each<[string, Answer]>([
    ['another media type', () => problem('code_required', { type: 'application/json' })],
    ['a status of the server', () => problem('code_required', { status: 500 })],
    ['a redirect', () => problem('code_required', { status: 302 })],
    ['no code', () => problem(undefined)],
    ['a number as its code', () => problem(7)],
    ['an empty code', () => problem('')],
    ['a code with a line break', () => problem('a\nb')],
    ['a long code', () => problem('a'.repeat(65))],
    [
      'text that is not JSON',
      () => new Response('{', { status: 403, headers: { 'Content-Type': 'application/problem+json' } }),
    ],
  ])('needs more than %s: the person is not asked again', async (_, answer) => {
    const { api, asked } = open([answer], [ALICE])
    await expect(api.token()).rejects.toMatchObject({ code: 'unexpected', refused: undefined })
    expect(asked).toHaveLength(1)
  })

  it('has no detail when the server sends no text', async () => {
    const { api, asked } = open([() => problem('terms', { detail: 7 as never }), GRANTED], [ALICE, { accept: 1 }])
    await api.token()
    expect(asked[1]?.refused).toEqual({ code: 'terms', detail: undefined })
  })

  it('does not end a session that is refreshed', async () => {
    const storage = { load: () => 'R', save() {}, remove: vi.fn() }
    const { api } = open([needsCode], [ALICE], { refresh: storage })
    await expect(api.restore()).rejects.toMatchObject({ code: 'unexpected' })
    expect(storage.remove).not.toHaveBeenCalled()
  })
})

describe('while a person enters the code', () => {
  /** Opens a client whose person does not enter the code. */
  async function openWaiting(options: Partial<TokenClientOptions> = {}, answers: Answer[] = [needsCode, GRANTED]) {
    const { promise: reached, resolve: reach } = deferred<void>()
    const { promise: typed, resolve: type } = deferred<StepFields>()
    const enterCode = () => {
      reach()
      return typed
    }
    const opened = open(answers, [ALICE, enterCode, ALICE], options)
    const waiting = opened.api.token()
    waiting.catch(() => {})
    await reached
    const [, { signal } = {}] = opened.asked
    return { ...opened, waiting, signal, type }
  }

  it.each(['signOut', 'close'] as const)('%s() ends the sign-in, and the next one begins anew', async (end) => {
    const { api, waiting, signal, type, bodies, codes } = await openWaiting()
    api[end]()
    expect(signal?.aborted).toBe(true)
    type({ code: '1' })
    await expect(waiting).rejects.toMatchObject({ code: end === 'close' ? 'closed' : 'signed_out' })
    expect(bodies).toHaveLength(1)
    if (end === 'close') return
    await api.token()
    expect(codes()).toEqual([false, 'code_required', false])
    expect(bodies[1]).toEqual(ALICE)
  })

  it('the signal of one call ends its wait, and the other calls get the token', async () => {
    const { api, waiting, signal, type } = await openWaiting()
    const controller = new AbortController()
    const other = api.token({ signal: controller.signal })
    controller.abort()
    await expect(other).rejects.toMatchObject({ name: 'AbortError' })
    expect(signal?.aborted).toBe(false)
    type({ code: '1' })
    expect(await waiting).toBe('T')
  })

  it('no time limit ends the wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { waiting, type } = await openWaiting({ timeout: 1 })
    await vi.advanceTimersByTimeAsync(3_600_000)
    type({ code: '1' })
    expect(await waiting).toBe('T')
  })

  it('a sign-in of the app ends the form, and other tabs may sign in meanwhile', async () => {
    let isLocked = false
    const request = async (_: string, __: object, held: () => Promise<unknown>) => {
      isLocked = true
      await held()
      isLocked = false
    }
    vi.stubGlobal('navigator', { locks: { request } })
    onTestFinished(() => void vi.unstubAllGlobals())
    const { api, waiting, signal } = await openWaiting({
      refresh: 'cookie',
      fetch: async (url) => (String(url).endsWith('/refresh') ? new Response('', { status: 403 }) : needsCode()),
    })
    // The lock is free: the calls of the token endpoint have ended.
    expect(isLocked).toBe(false)
    await api.signIn(granted)
    expect(await waiting).toBe('T')
    expect(signal?.aborted).toBe(true)
  })

  it('a 429 for the code waits and sends the code once more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const limited = () => new Response('', { status: 429, headers: { 'Retry-After': '5' } })
    const { waiting, type, bodies, asked } = await openWaiting({}, [needsCode, limited, GRANTED])
    type({ code: '1' })
    await vi.advanceTimersByTimeAsync(7000)
    expect(await waiting).toBe('T')
    expect(bodies.slice(1)).toEqual([
      { ...ALICE, code: '1' },
      { ...ALICE, code: '1' },
    ])
    expect(asked).toHaveLength(2)
  })

  it('a 429 with a longer wait ends the sign-in, whose credentials are not sent again', async () => {
    const limited = () => new Response('', { status: 429, headers: { 'Retry-After': '900' } })
    const { api, waiting, type, bodies, codes } = await openWaiting({}, [needsCode, limited])
    type({ code: '1' })
    await expect(waiting).rejects.toMatchObject({ code: 'try_later', status: 429 })
    await expect(api.token()).rejects.toMatchObject({ code: 'try_later', status: 429 })
    expect([bodies.length, codes()]).toEqual([2, [false, 'code_required', false]])
  })

  it('a token endpoint that does not respond to the code ends the sign-in after the time limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    let calls = 0
    const hangs: typeof fetch = async () => (calls++ ? new Promise<never>(() => {}) : needsCode())
    const { waiting, type } = await openWaiting({ fetch: hangs })
    const outcome = rejectionOf(waiting)
    type({ code: '1' })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await outcome).toMatchObject({ code: 'unreachable' })
  })
})

describe('the memory of a client', () => {
  /** Replaces `JSON.stringify`. Returns weak references to the credentials that it was called with. */
  function watchCredentials(): WeakRef<object>[] {
    const seen: WeakRef<object>[] = []
    const { stringify } = JSON
    JSON.stringify = ((value: object, ...rest: []) => {
      if (Object(value).password) seen.push(new WeakRef(value))
      return stringify(value, ...rest)
    }) as typeof stringify
    onTestFinished(() => {
      JSON.stringify = stringify
    })
    return seen
  }

  async function collectGarbage(): Promise<void> {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    // A weak reference is kept until the end of the turn that made it.
    for (let turn = 0; turn < 3; turn++) {
      await new Promise(setImmediate)
      collect()
    }
  }

  it.each<[string, Answer[], (api: { signOut(): void }) => Given]>([
    ['a sign-in with a code', [needsCode, GRANTED], () => ({ code: '1' })],
    ['a refusal of the code', [needsCode, wrongCode], () => ({ code: '1' })],
    [
      'a sign-out while a person enters the code, and never does',
      [needsCode],
      (api) => {
        setImmediate(() => api.signOut())
        return forms[forms.push(new Promise<never>(() => {})) - 1] as Promise<never>
      },
    ],
  ])('has no credentials after %s', async (_, answers, enterCode) => {
    const seen = watchCredentials()
    let asked = 0
    const api = createTokenClient({
      url: URL_OF_API,
      interactive: true,
      credentials: () => (asked++ ? enterCode(api) : { ...ALICE }),
      fetch: async () => {
        const answer = answers[Math.min(asked, answers.length) - 1]
        return typeof answer === 'function' ? answer() : granted()
      },
    })
    onTestFinished(api.close)
    await api.token().catch(() => {})
    expect(seen.length).toBeGreaterThan(0)
    await collectGarbage()
    expect(seen.map((reference) => reference.deref())).toEqual(seen.map(() => undefined))
  })
  /** The promises of forms that a page keeps. */
  const forms: Promise<never>[] = []
})
