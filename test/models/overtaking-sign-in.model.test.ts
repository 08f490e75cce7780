import express, { type Request, type RequestHandler } from 'express'
import {
  type AccountStore,
  type AuthError,
  type AuthEvent,
  createLimits,
  createPasswords,
  type Hasher,
  type SessionStore,
  type Sessions,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { authWith } from '../support/auth.js'
import { settled } from '../support/concurrency.js'
import { frozenClock } from '../support/fixtures.js'
import { asJson, send } from '../support/host.js'
import { listen } from '../support/http.js'
import { memorySessions } from '../support/sessions.js'

const OLD = 'the old password'
const GOOD = { email: 'alice@example.com', password: OLD }

/** A step of a sign-in, which calls a function of the host. */
type Step = 'look-up' | 'verify' | 'rehash' | 'start' | 'second look-up'

/** The steps of the longest sign-in: its hash is outdated, and it verifies a second hash. */
const MOST_STEPS = 6

/** The salt of the last hash of any process, so that two hashes of one password differ. */
let salt = 0

function hasherOf(prefix: string, at: (step: Step) => unknown) {
  return {
    accepts: (hash) => hash.startsWith(prefix),
    async verify(password, hash) {
      await at('verify')
      return hash.endsWith(`:${password}`)
    },
    hash: (password) => `${prefix}${++salt}:${password}`,
  } satisfies Hasher
}

/** Creates what several processes share: the accounts, the sessions and the time. */
function createData(passwordHash: string) {
  const clock = frozenClock()
  const row = { id: 'acc-1', ...GOOD, passwordHash, disabled: false, tokensValidAfter: null as Date | null }
  const rows = [row]
  return { clock, row, rows, memory: memorySessions(), events: [] as AuthEvent[] }
}

/** Creates a process that calls `at` before each step of its sign-ins. */
function createProcess({ clock, rows, memory, events }: ReturnType<typeof createData>, at: (step: Step) => unknown) {
  let lookUps = 0
  const accounts: AccountStore = {
    async findByEmail(email) {
      await at(lookUps++ === 0 ? 'look-up' : 'second look-up')
      const found = rows.find((row) => row.email === email)
      return found && { ...found }
    },
    async replacePasswordHash(id, from, to) {
      await at('rehash')
      const found = rows.find((row) => row.id === id && row.passwordHash === from)
      if (found) found.passwordHash = to
      return found !== undefined
    },
  }
  const store: SessionStore = {
    ...memory,
    async add(session) {
      await at('start')
      return memory.add(session)
    },
  }
  const hashers = [hasherOf('new:', at), hasherOf('old:', at)] as const
  const onEvent = (event: AuthEvent) => events.push(event)
  // One failure would be the last.
  const limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } })
  const passwords = createPasswords({ hashers: [...hashers] })
  return authWith({ accounts, passwords, limits, clock, store: { sessions: store }, onEvent })
}

type Process = ReturnType<typeof createProcess>
type Outcome = { token: string } | { code: string }

type Serve = (router: RequestHandler) => ReturnType<typeof send>

/** Starts a server, and returns how to send the credentials to a router. */
async function serve(): Promise<Serve> {
  let current: RequestHandler
  const { port } = await listen(express().use((req, res, next) => current(req, res, next)))
  return (router) => {
    current = router
    return send(port, asJson(GOOD))
  }
}

/** The ways to sign in: each returns a token, or the refusal. */
const WAYS: Record<string, (process: Process, send: Serve) => Promise<Outcome>> = {
  async 'auth.router'({ router }, sendTo) {
    const { status, body } = await sendTo(router)
    if (status === 200) return { token: JSON.parse(body).authenticationToken }
    expect([status, body]).toEqual([403, ''])
    return { code: 'invalid_credentials' }
  },
  async 'auth.signIn'({ logIn, signIn }) {
    const req = { headers: {}, rawHeaders: [] } as unknown as Request
    try {
      const { subject } = await logIn(GOOD)
      return { token: (await signIn(subject, req)).authenticationToken }
    } catch (error) {
      return { code: (error as AuthError).code }
    }
  },
}

/** The writes of a host, which then ends the sessions. */
const CHANGES: Record<string, (data: ReturnType<typeof createData>) => void> = {
  'stores a new hash': ({ row }) => Object.assign(row, { passwordHash: 'new:x:another password' }),
  'removes the hash': ({ row }) => Object.assign(row, { passwordHash: null }),
  'disables the account': ({ row }) => Object.assign(row, { disabled: true }),
  'deletes the account': ({ rows }) => void rows.pop(),
  'gives the address to another account': ({ row, rows }) => {
    rows.push({ ...row, id: 'acc-2', passwordHash: `new:x:${OLD}` })
    row.email = 'other@example.com'
  },
  'signs out everywhere': ({ row, clock }) => Object.assign(row, { tokensValidAfter: new Date(clock()) }),
}

/** The changes after which the credentials are still right. */
const STILL_RIGHT = ['gives the address to another account', 'signs out everywhere']

/** All places for the two actions of a host: before a step, or after the response. A sign-in may take its steps in any order. */
const numbers = Array.from({ length: MOST_STEPS + 1 }, (_, i) => i)
const PLACES = numbers.flatMap((write) => numbers.slice(write).map((end) => [write, end] as const))

const METHODS = ['endAll', 'endOthers'] as const

describe.each(Object.entries(WAYS))('a sign-in by %s', (_name, signIn) => {
  // An outdated hash, because then a sign-in has all steps.
  const all = Object.keys(CHANGES).flatMap((change) => METHODS.map((method) => [change, method, 'old:'] as const))
  const few = METHODS.map((method) => ['stores a new hash', method, 'new:'] as const)
  it.each([...all, ...few])(
    'that overtakes a host that %s and calls %s leaves no live session (hash %s)',
    async (change, method, hash) => {
      const [outcomes, sendTo] = [new Set<string>(), await serve()]
      for (const [writes, ends] of PLACES) {
        const steps: Step[] = []
        const place = [writes, change, ends, method, steps]
        const data = createData(`${hash}0:${OLD}`)
        const mine = { id: 'mine', accountId: 'acc-1', expiresAt: new Date(data.clock() + 3_600_000) }
        const sessions = createProcess(data, () => {}).sessions as Sessions
        await sessions.start(mine)
        const write = () => {
          data.clock.advance(1000)
          CHANGES[change]?.(data)
          data.clock.advance(1000)
        }
        const end = () => (method === 'endAll' ? sessions.endAll('acc-1') : sessions.endOthers(mine))
        const due = [
          { before: writes, run: write },
          { before: ends, run: end },
        ]
        const process = createProcess(data, async (step) => {
          while (due[0]?.before === steps.length) await due.shift()?.run()
          steps.push(step)
        })
        const outcome = await signIn(process, sendTo)
        expect(steps.length).toBeLessThanOrEqual(MOST_STEPS)
        for (const { run } of due) await run()

        const live = (await sessions.list('acc-1')).filter(({ id }) => id !== mine.id)
        // The old password is still right for a sign-in that begins afterwards.
        const mayStay = STILL_RIGHT.includes(change) && writes === 0
        if ('token' in outcome) {
          const isEnded = await sessions.isEnded(await process.tokens.verify(outcome.token))
          expect([place, isEnded || mayStay]).toEqual([place, true])
        } else {
          expect([place, outcome, live]).toEqual([place, { code: 'invalid_credentials' }, []])
        }
        expect([place, mayStay ? [] : live]).toEqual([place, []])
        if (method === 'endOthers') expect(await sessions.isEnded({ ...mine, issuer: undefined })).toBe(false)
        const issued = data.events.filter(({ type }) => type === 'token.issued')
        expect([place, issued.length > 0 && !('token' in outcome)]).toEqual([place, false])
        outcomes.add('token' in outcome ? 'token' : outcome.code)
      }
      expect([...outcomes].sort()).toEqual(['invalid_credentials', 'token'])
    },
  )
})

it('two right logins at once with an outdated hash both sign in, in every order of their steps', async () => {
  const orders = new Set<string>()
  for (let order = 0; order < 256; order++) {
    const data = createData(`old:0:${OLD}`)
    const waiting = new Map<string, () => void>()
    const done = new Map<string, Outcome>()
    const taken: string[] = []
    for (const name of ['a', 'b']) {
      const at = (step: Step) =>
        new Promise<void>((resolve) => {
          waiting.set(name, () => {
            taken.push(`${name} ${step}`)
            resolve()
          })
        })
      WAYS['auth.signIn']?.(createProcess(data, at), () => expect.fail()).then((outcome) => done.set(name, outcome))
    }
    for (let bit = 0; done.size < 2; bit++) {
      await settled()
      const [first, second] = (order >> bit) & 1 ? ['a', 'b'] : ['b', 'a']
      const name = waiting.has(first as string) ? first : second
      const resume = waiting.get(name as string)
      waiting.delete(name as string)
      resume?.()
    }
    orders.add(taken.join(', '))
    for (const [name, outcome] of done)
      expect([taken, name, outcome]).toEqual([taken, name, { token: expect.any(String) }])
    expect(data.memory.list('acc-1')).toHaveLength(2)
  }
  expect(orders.size).toBeGreaterThan(100)
})
