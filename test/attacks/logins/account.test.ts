import { randomBytes } from 'node:crypto'
import express from 'express'
import type { AuthOptions, MemoryAccount } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, from, MAILING, MAILING_KINDS, networkOf, STRONG } from '../../support/account-app.js'
import { all, deferred, settled, statuses } from '../../support/concurrency.js'
import { type Answer, asForm, asJson } from '../../support/host.js'
import { client, TOKEN_PATH } from '../../support/http.js'

const { start, createLimits, memoryStore, makeStore, ACCOUNTS, PASSWORD } = await accountPackage(express)
const { alice, bob, disabled } = ACCOUNTS
const NOBODY = 'nobody@example.com'
const OTHER_PASSWORD = 'another quiet harbour at dusk'

type App = Awaited<ReturnType<typeof start>>

/** Returns what a client sees, without the time. */
function seen({ status, headers, body }: Answer) {
  const { date: _, ...others } = headers
  return { status, headers: others, body }
}

describe('somebody who looks for accounts', () => {
  it.each(MAILING_KINDS)(
    'sees the same at %s, for known, unknown and disabled addresses, also when limits are used up',
    async (kind) => {
      const app = await start()
      for (let i = 0; i < 5; i++) {
        const [known, ...others] = await Promise.all(
          [alice.email, NOBODY, disabled.email].map((email, n) =>
            app.call(MAILING[kind], { email }, from(`192.0.${n}.1`)),
          ),
        )
        expect(known?.status).toBe(i < 3 ? 202 : 429)
        for (const other of others) expect([i, seen(other)]).toEqual([i, seen(known as Answer)])
        await app.settle()
      }
    },
  )

  it.each(MAILING_KINDS)('sees the same at %s from a network that has used up its requests', async (kind) => {
    const app = await start()
    const ask = (email: string) => app.call(MAILING[kind], { email })
    for (let i = 0; i < 10; i++) expect((await ask(`${i}@example.com`)).status).toBe(202)
    const [known, unknown] = [await ask(alice.email), await ask(NOBODY)]
    expect(known.status).toBe(429)
    expect(seen(unknown)).toEqual(seen(known))
  })

  it('sees the same when the owner of an account moves to a known and to an unknown address', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    for (let i = 0; i < 4; i++) {
      const [known, unknown] = await Promise.all(
        [bob.email, NOBODY].map((email, n) =>
          app.call(`${ACCOUNT}/address`, { email }, { token, ...from(`192.0.${n}.1`) }),
        ),
      )
      expect(known?.status).toBe(i < 3 ? 202 : 429)
      expect(seen(unknown as Answer)).toEqual(seen(known as Answer))
    }
  })
})

describe('the mails', () => {
  const EVIL = 'evil.example'
  it.each<[string, string, object]>([
    ['address-taken', ACCOUNT, { email: alice.email }],
    ['sign-up', ACCOUNT, { email: NOBODY }],
    ['password-reset', MAILING['password-reset'], { email: alice.email }],
    ['sign-in', MAILING['sign-in'], { email: alice.email }],
  ])('of the kind %s have nothing of the request', async (kind, path, body) => {
    const app = await start()
    const headers = {
      Host: EVIL,
      'X-Forwarded-Host': EVIL,
      'X-Forwarded-Proto': EVIL,
      Forwarded: `host=${EVIL}`,
      'X-Original-URL': `https://${EVIL}/`,
      'User-Agent': EVIL,
      Referer: `https://${EVIL}/`,
    }
    expect((await app.call(path, body, { headers })).status).toBe(202)
    await app.settle()
    const [mail, ...others] = app.mails
    expect(others).toEqual([])
    expect(mail?.kind).toBe(kind)
    expect(JSON.stringify(mail)).not.toContain(EVIL)
    const members = kind === 'address-taken' ? ['details', 'kind', 'tenant', 'to'] : ['code', 'kind', 'tenant', 'to']
    expect(Object.keys(mail ?? {}).sort()).toEqual(members)
  })

  /** A database whose collation finds an account by many spellings of its address, and by the first of two addresses. */
  function looseAccounts() {
    const accounts = makeStore()
    const keyOf = (text: string) =>
      text
        .normalize('NFKC')
        .toLowerCase()
        .replaceAll('。', '.')
        .replace(/\+[^@]*/, '')
        .split(',')[0] ?? ''
    return { ...accounts, findByEmail: (text: string) => accounts.findByEmail(keyOf(text)) }
  }

  it.each(
    [
      'ALICE@EXAMPLE.COM',
      'alice+attacker@example.com',
      'ａｌｉｃｅ@example.com',
      'alice@example。com',
      'alice@example．com',
      'ALICE@example.com,attacker@evil.example',
    ].flatMap((spelling) =>
      (['password-reset', 'sign-in', 'sign-up'] as const).map((kind) => [spelling, kind] as const),
    ),
  )('for the account that a store finds by %s go to its stored address (%s)', async (email, kind) => {
    const app = await start({ accounts: looseAccounts() })
    const { status } = await app.call(MAILING[kind], { email })
    await app.settle()
    const isList = kind === 'sign-up' && email.includes(',')
    expect(status).toBe(isList ? 422 : 202)
    expect(app.mails.map(({ to }) => to)).toEqual(isList ? [] : [alice.email])
  })

  it.each([
    'alice@example.com,attacker@evil.example',
    'alice@example.com\nBcc: a@evil.example',
    'alice@example.com ',
    '<alice@example.com>',
  ])('for %j go to nobody, where no account has it', async (email) => {
    const app = await start()
    for (const kind of ['password-reset', 'sign-in'] as const)
      expect((await app.call(MAILING[kind], { email })).status).toBe(202)
    await app.settle()
    expect(app.mails).toEqual([])
    const { token } = await app.signIn(bob.email, PASSWORD)
    expect((await app.call(`${ACCOUNT}/address`, { email }, { token })).status).toBe(422)
    expect((await app.call(ACCOUNT, { email })).status).toBe(422)
    expect(app.mails).toEqual([])
  })

  it('of spellings of one address are counted together', async () => {
    const app = await start({ accounts: looseAccounts() })
    const spellings = ['alice', 'Alice', 'aLice', 'alIce', 'alicE', 'ALICE'].map((name) => `${name}@example.com`)
    await Promise.all(spellings.map((email) => app.call(MAILING['password-reset'], { email })))
    expect(await app.received('password-reset')).toHaveLength(3)
  })
})

describe('an id that the table uses again', () => {
  it('opens nothing for the tokens and codes of the account that was deleted', async () => {
    const rows = makeStore()
    const reusing: typeof rows = {
      ...rows,
      create: async (account) => {
        const again = { ...account, id: alice.id } as MemoryAccount
        const one = makeStore([again])
        Object.assign(rows, one)
        return again
      },
    }
    const accounts: typeof rows = {
      ...reusing,
      findByEmail: (text) => rows.findByEmail(text),
      findById: (id) => rows.findById(id),
      remove: (id) => rows.remove(id),
    }
    const app = await start({ accounts })
    const { token: mine, refreshToken } = await app.signIn(alice.email, PASSWORD)
    const { token: deleting } = await app.signIn(alice.email, PASSWORD)
    for (const kind of ['password-reset', 'sign-in'] as const) await app.call(MAILING[kind], { email: alice.email })
    await app.call(`${ACCOUNT}/address`, { email: NOBODY }, { token: mine })
    await app.settle()
    const codes = app.mails.splice(0).map(({ code }) => code)
    expect((await app.call(ACCOUNT, undefined, { token: deleting, method: 'DELETE' })).status).toBe(204)

    await app.call(ACCOUNT, { email: alice.email })
    const code = await app.codeOf('sign-up')
    const done = await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })
    expect(done.status).toBe(200)
    // The new account has the id and the address of the old one.
    expect(await rows.findById(alice.id)).toMatchObject({ email: alice.email })
    expect(await app.isIn(mine)).toBe(401)
    expect((await app.refresh(refreshToken)).status).toBe(403)
    for (const old of codes) {
      const token = JSON.parse(done.body).authenticationToken
      const tried = [
        await app.call(`${ACCOUNT}/password/reset`, { code: old, password: STRONG }),
        await app.call(`${TOKEN_PATH}/mail/confirm`, { code: old }),
        await app.call(`${ACCOUNT}/address/confirm`, { code: old }, { token }),
      ]
      expect(statuses(tried)).toEqual({ 403: 3 })
    }
    // A verifier without the store knows only the id: this is why no table may use an id again.
    expect(await app.auth.tokens.verify(mine)).toMatchObject({ accountId: alice.id })
  })
})

describe('a mailer', () => {
  const never = () => new Promise<void>(() => {})

  it.each<[string, () => Promise<void>]>([
    ['throws', () => Promise.reject(new Error('550'))],
    ['hangs', never],
  ])('that %s for one provider: others get their mails, and an event tells it', async (_name, fail) => {
    const slow = { ...bob, id: 'acc-slow', email: 'bob@slow.example' }
    const app = await start({
      accounts: makeStore([alice, slow]),
      timeout: '1s',
      mail: ({ to }) => (to === slow.email ? fail() : undefined),
    })
    for (const email of [slow.email, alice.email])
      expect((await app.call(MAILING['password-reset'], { email })).status).toBe(202)
    await app.settle()
    expect(app.of('dependency.failed')).toMatchObject([{ dependency: 'hook', option: 'mail', refused: false }])
    const [code] = app.mails.filter(({ to }) => to === alice.email).map((mail) => mail.code)
    expect((await app.call(`${ACCOUNT}/password/reset`, { code, password: STRONG })).status).toBe(204)
    // A thief cannot keep the notice of another account back with a mailer that hangs.
    await app.settle()
    expect(app.mails.filter(({ kind }) => kind === 'password-changed')).toHaveLength(1)
  })
})

/** The route of each code, with the status of its success. */
const USES = {
  'sign-up': {
    use: (app: App, code: unknown) => app.call(`${ACCOUNT}/confirm`, { code, password: STRONG }),
    status: 200,
  },
  'password-reset': {
    use: (app: App, code: unknown) => app.call(`${ACCOUNT}/password/reset`, { code, password: STRONG }),
    status: 204,
  },
  'sign-in': { use: (app: App, code: unknown) => app.call(`${TOKEN_PATH}/mail/confirm`, { code }), status: 200 },
  'new-address': {
    use: (app: App, code: unknown, token = '') => app.call(`${ACCOUNT}/address/confirm`, { code }, { token }),
    status: 204,
  },
} as const
type Kind = keyof typeof USES
const ALL_KINDS = Object.keys(USES) as Kind[]

/** Has a code of a kind mailed. */
async function mailed(app: App, kind: Kind, token: string, headers = {}): Promise<string> {
  const path = kind === 'new-address' ? `${ACCOUNT}/address` : MAILING[kind]
  const email = kind === 'sign-up' || kind === 'new-address' ? `${kind}@example.com` : alice.email
  const answer = await app.call(path, { email }, { headers, ...(kind === 'new-address' && { token }) })
  expect([kind, answer.status]).toEqual([kind, 202])
  return app.codeOf(kind)
}

describe.each(ALL_KINDS)('a code of the kind %s', (kind) => {
  const { use, status } = USES[kind]
  const others = ALL_KINDS.filter((other) => other !== kind)

  it('is refused at the routes of other codes, which use it up as little as guesses do, and works once', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const code = await mailed(app, kind, token)
    for (const other of others) expect([other, (await USES[other].use(app, code, token)).status]).toEqual([other, 403])
    const guesses = await all(50, () => use(app, randomBytes(32).toString('base64url'), token))
    for (const text of ['', 'x', `${code}x`, code.slice(1), code.toUpperCase(), code.toLowerCase(), `${code}\n`])
      guesses.push(await use(app, text, token))
    expect(statuses(guesses)).toEqual({ 403: guesses.length })
    expect((await use(app, code, token)).status).toBe(status)
    expect((await use(app, code, token)).status).toBeGreaterThanOrEqual(401)
  })

  it('is refused for another tenant, and in another environment with the same store', async () => {
    const store = memoryStore()
    const tenant: AuthOptions['tenant'] = ({ req }) => String(req?.headers['x-tenant'] ?? 'north')
    const app = await start({ store, tenant })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const code = await mailed(app, kind, token)
    const staging = await start({ store, tenant, issuer: 'https://staging.example.com' })
    const { token: atStaging } = await staging.signIn(alice.email, PASSWORD)
    expect((await use(staging, code, atStaging)).status).toBe(403)
    const south: App = {
      ...app,
      call: (path, body, sent) => app.call(path, body, { ...sent, headers: { 'X-Tenant': 'south' } }),
    }
    expect((await use(south, code, token)).status).toBe(403)
    expect((await use(app, code, token)).status).toBe(status)
  })

  it('of ten uses at once, one works', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const code = await mailed(app, kind, token)
    const answers = await all(10, () => use(app, code, token))
    const worked = answers.filter((one) => one.status === status)
    // Two requests at once with the same password or address may both see that it is done.
    if (kind === 'sign-up' || kind === 'sign-in') expect(worked).toHaveLength(1)
    expect(worked.length).toBeGreaterThan(0)
    if (kind !== 'sign-in') return
    expect(await app.store.sessions.list(alice.id)).toHaveLength(2)
  })
})

it('of two resets at once with different passwords, one works', async () => {
  const app = await start()
  const code = await mailed(app, 'password-reset', '')
  const passwords = [STRONG, OTHER_PASSWORD]
  const answers = await Promise.all(
    passwords.map((password) => app.call(`${ACCOUNT}/password/reset`, { code, password })),
  )
  expect(statuses(answers)).toEqual({ 204: 1, 403: 1 })
  await app.signIn(alice.email, passwords[answers.findIndex(({ status }) => status === 204)] as string)
})

/** A store whose call number `n` waits while it is armed. */
function pausing() {
  const [memory, rows] = [memoryStore(), makeStore()]
  let left = 0
  let reached = deferred<void>()
  let go = deferred<void>()
  const slow = <T extends object>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, method]) => [
        name,
        async (...args: unknown[]) => {
          if (--left === 0) {
            reached.resolve()
            await go.promise
          }
          return method(...args)
        },
      ]),
    ) as T
  return {
    rows,
    options: { accounts: slow(rows), store: { sessions: slow(memory.sessions), codes: slow(memory.codes) } },
    sessions: memory.sessions,
    arm(call: number) {
      left = call
      reached = deferred()
      go = deferred()
      return { reached: reached.promise, go: go.resolve }
    },
    disarm: () => {
      left = 0
    },
  }
}

/** The acts that may be in progress, each with a code or a session of before. */
interface Before {
  app: App
  codes: Record<Kind, string>
  /** The session of the act in progress, of the other act, and of a thief. */
  mine: { token: string; refreshToken: string }
  other: { token: string; refreshToken: string }
}

const ACTS: Record<string, (before: Before, which: 'mine' | 'other', password: string) => Promise<Answer>> = {
  reset: ({ app, codes }, _, password) =>
    app.call(`${ACCOUNT}/password/reset`, { code: codes['password-reset'], password }),
  'change of the password': ({ app, ...sessions }, which, newPassword) =>
    app.call(`${ACCOUNT}/password`, { password: PASSWORD, newPassword }, sessions[which]),
  'change of the address': ({ app, codes, ...sessions }, which) =>
    app.call(`${ACCOUNT}/address/confirm`, { code: codes['new-address'] }, sessions[which]),
  deletion: ({ app, ...sessions }, which) => app.call(ACCOUNT, undefined, { ...sessions[which], method: 'DELETE' }),
}
const PROGRESS: typeof ACTS = {
  ...ACTS,
  'sign-in': ({ app }) => app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD }),
  'sign-in by mail': ({ app, codes }) => app.call(`${TOKEN_PATH}/mail/confirm`, { code: codes['sign-in'] }),
  refresh: ({ app, mine }) => app.refresh(mine.refreshToken),
  'step-up': ({ app, mine }) => app.call(`${TOKEN_PATH}/confirm`, { password: PASSWORD }, mine),
}

/** The most calls of stores of an act. */
const MOST_CALLS = 24

describe.each(Object.keys(ACTS))('a %s that overtakes', (act) => {
  it.each(Object.keys(PROGRESS))('a %s at any step: no session of before works afterwards', async (progress) => {
    let paused = 0
    for (let call = 1; call <= MOST_CALLS; call++) {
      const stores = pausing()
      const app = await start({ ...stores.options, limits: false })
      const [mine, other, thief] = [
        await app.signIn(alice.email, PASSWORD),
        await app.signIn(alice.email, PASSWORD),
        await app.signIn(alice.email, PASSWORD),
      ]
      const codes = {} as Before['codes']
      for (const kind of ALL_KINDS) codes[kind] = await mailed(app, kind, mine.token, from('192.0.2.9').headers)
      const before: Before = { app, codes, mine, other }
      const { reached, go } = stores.arm(call)
      const running = PROGRESS[progress]?.(before, 'mine', OTHER_PASSWORD)
      const isPaused = await Promise.race([reached.then(() => true), running?.then(() => false)])
      if (!isPaused) break
      paused++
      stores.disarm()
      const early = await stores.rows.findById(alice.id)
      const wasDone = early?.email !== alice.email || early.passwordHash !== alice.passwordHash
      const done = (await ACTS[act]?.(before, 'other', STRONG)) as Answer
      const { status } = done
      go()
      const late = (await running) as Answer
      await app.settle()
      const place = [progress, call, late.status, act, status]
      // Where the other act was refused, the act in progress was first.
      if (status !== 204) {
        expect([place, late.status < 300]).toEqual([place, true])
        continue
      }
      const keptByAct = act.startsWith('change') ? [other] : []
      const keptByLate = late.status === 204 && progress.startsWith('change') ? [mine] : []
      for (const one of [mine, other, thief]) {
        if (keptByAct.includes(one) || keptByLate.includes(one)) continue
        expect([place, await app.isIn(one.token)]).toEqual([place, 401])
        expect([place, (await app.refresh(one.refreshToken)).status]).toEqual([place, 403])
      }
      if (late.status === 200) {
        const { authenticationToken, refreshToken } = JSON.parse(late.body)
        expect([place, await app.isIn(authenticationToken)]).toEqual([place, 401])
        if (refreshToken) expect([place, (await app.refresh(refreshToken)).status]).toEqual([place, 403])
      }
      for (const kind of ['sign-in', 'password-reset'] as const)
        expect([place, kind, (await USES[kind].use(app, codes[kind])).status]).toEqual([place, kind, 403])
      const found = await stores.rows.findById(alice.id)
      if (act === 'deletion') expect([place, found]).toEqual([place, undefined])
      // A deletion cannot be undone, and two changes of the address have one code. Other acts in progress change nothing any more, unless they had when they were overtaken.
      else if (progress !== 'deletion' && (progress !== act || act !== 'change of the address')) {
        const stays = wasDone && late.status === 204
        const expected = (word: string) => act.includes(word) || (stays && progress.includes(word))
        expect([place, found?.email !== alice.email]).toEqual([place, expected('address')])
        const isNew = found?.passwordHash !== alice.passwordHash
        expect([place, isNew]).toEqual([place, act === 'reset' || expected('password')])
      }
    }
    expect(paused).toBeGreaterThan(2)
  })
})

it('blocked logins of many clients look the account up once for its reminder, and take no place of a reset', async () => {
  const accounts = makeStore()
  const lookUp = deferred<void>()
  const asked: string[] = []
  const app = await start({
    limits: createLimits({ limits: { account: { points: 1, duration: '1h' } } }),
    timeout: '60s',
    accounts: {
      ...accounts,
      async findByEmail(email) {
        asked.push(email)
        if (asked.length > 1 && email === alice.email) await lookUp.promise
        return accounts.findByEmail(email)
      },
    },
  })
  const guess = (address: string) => app.call(TOKEN_PATH, { email: alice.email, password: 'a guess' }, from(address))
  expect((await guess('192.0.2.1')).status).toBe(403)
  const flood = client(app.port, 20)
  const { headers, ...sent } = asJson({ email: alice.email, password: 'a guess' })
  const answers = await all(1200, (i) =>
    flood({ ...sent, method: 'POST', path: TOKEN_PATH, headers: { ...headers, 'X-Forwarded-For': networkOf(i) } }),
  )
  expect(statuses(answers)).toEqual({ 429: 1200 })
  expect(asked).toEqual([alice.email, alice.email])
  expect((await app.call(MAILING['password-reset'], { email: bob.email })).status).toBe(202)
  lookUp.resolve()
  expect(await app.received('sign-in-blocked')).toHaveLength(1)
  // The day has its reminder.
  await guess('192.0.2.7')
  expect(await app.received('sign-in-blocked')).toEqual([])
})

describe('a page of another site', () => {
  const CROSS = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }
  const ROUTES: [string, string][] = [
    ...MAILING_KINDS.map((kind): [string, string] => [MAILING[kind], `email=${encodeURIComponent(alice.email)}`]),
    [`${ACCOUNT}/confirm`, `code=x&password=${STRONG}`],
    [`${ACCOUNT}/password/reset`, `code=x&password=${STRONG}`],
    [`${TOKEN_PATH}/mail/confirm`, 'code=x'],
  ]

  it.each(ROUTES)('sends no form to %s, before anything is counted or mailed', async (path, text) => {
    const app = await start({ refresh: 'cookie' })
    const { headers, ...form } = asForm(text)
    for (let i = 0; i < 12; i++) {
      const { status } = await app.call(path, undefined, { ...form, headers: { ...headers, ...CROSS } })
      expect(status).toBe(415)
    }
    await app.settle()
    expect(app.mails).toEqual([])
    const own = await app.call(path, undefined, { ...form, headers: { ...headers, 'Sec-Fetch-Site': 'same-origin' } })
    expect(own.status).toBe(path === ROUTES[3]?.[0] || path === ROUTES[4]?.[0] || path === ROUTES[5]?.[0] ? 403 : 202)
  })

  it.each([
    ['another site', CROSS],
    ['another origin of the site', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://blog.example.com' }],
  ])('sends no JSON from %s to routes that may set the cookie, and no code is used up', async (_name, headers) => {
    const app = await start({ refresh: 'cookie' })
    const { token } = {
      token: JSON.parse((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).body)
        .authenticationToken,
    }
    for (const kind of ['sign-in', 'sign-up'] as const) {
      const code = await mailed(app, kind, '')
      const [path, body] =
        kind === 'sign-in'
          ? [`${TOKEN_PATH}/mail/confirm`, { code }]
          : [`${ACCOUNT}/confirm`, { code, password: STRONG }]
      const refused = await app.call(path, body, { headers })
      expect(refused.status).toBe(403)
      expect(refused.headers).not.toHaveProperty('set-cookie')
      const own = await app.call(path, body)
      expect([own.status, own.headers['set-cookie']?.length]).toEqual([200, 1])
    }
    expect((await app.call(ACCOUNT, undefined, { token, method: 'DELETE', headers })).status).toBe(403)
    expect(await app.accounts.findById(alice.id)).toEqual(alice)
  })
})

describe('a store that hangs between any two steps', () => {
  const RUNS: [string, (before: Before) => Promise<Answer>, number, number[]][] = [
    ['sign-up', ({ app, codes }) => USES['sign-up'].use(app, codes['sign-up']), 200, [409, 403]],
    ['reset', ({ app, codes }) => USES['password-reset'].use(app, codes['password-reset']), 204, [403]],
    ['sign-in by mail', ({ app, codes }) => USES['sign-in'].use(app, codes['sign-in']), 200, []],
    [
      'change of the address',
      ({ app, codes, mine }) => USES['new-address'].use(app, codes['new-address'], mine.token),
      204,
      [403],
    ],
    ['deletion', ({ app, mine }) => app.call(ACCOUNT, undefined, { ...mine, method: 'DELETE' }), 204, [401]],
  ]

  it.each(RUNS)('%s: 503, and it can be done again', async (_name, run, success, done) => {
    const calls = Array.from({ length: 14 }, (_, i) => i + 1)
    const outcomes = await Promise.all(
      calls.map(async (call) => {
        const stores = pausing()
        const app = await start({ ...stores.options, limits: false, timeout: '3s' })
        const [mine, other] = [await app.signIn(alice.email, PASSWORD), await app.signIn(alice.email, PASSWORD)]
        const codes = {} as Before['codes']
        for (const kind of ALL_KINDS) codes[kind] = await mailed(app, kind, mine.token)
        const before = { app, codes, mine, other }
        stores.arm(call)
        const first = await run(before)
        stores.disarm()
        if (first.status !== 503) return [first.status]
        await settled()
        return [503, (await run(before)).status]
      }),
    )
    // The last calls of an act are after its response.
    expect(outcomes.some(([first]) => first === 503)).toBe(true)
    for (const [first, second] of outcomes)
      expect(first === 503 ? [success, ...done] : [success]).toContain(first === 503 ? second : first)
  })

  it.each(MAILING_KINDS)('the work of %s: an event, and it can be done again', async (kind) => {
    const outcomes = await all(3, async (i) => {
      const stores = pausing()
      const app = await start({ ...stores.options, timeout: '1s' })
      const email = kind === 'sign-up' ? NOBODY : alice.email
      stores.arm(i + 1)
      expect((await app.call(MAILING[kind], { email })).status).toBe(202)
      const first = (await app.received(kind)).length
      stores.disarm()
      const failed = app.of('dependency.failed').length
      expect((await app.call(MAILING[kind], { email })).status).toBe(202)
      return [first, failed, (await app.received(kind)).length]
    })
    expect(outcomes).toEqual([
      [0, 1, 1],
      [0, 1, 1],
      [1, 0, 1],
    ])
  })
})
