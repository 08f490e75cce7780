import type { AuthEvent, AuthOptions, Mail, MailKind, Session } from 'express-token-endpoint'
import { expect, vi } from 'vitest'
import { deferred } from './concurrency.js'
import { type AnyExpress, asJson, expectProblem, packageOn, type Sent, send } from './host.js'
import { listen, TOKEN_PATH } from './http.js'

export const ACCOUNT = '/auth/account'
/** The features whose routes the kit switches on. */
export const ACCOUNT_FEATURES = {
  signUp: true,
  passwordReset: true,
  changePassword: true,
  changeAddress: true,
  deletion: true,
  signInByMail: true,
}
/** The features of factors and keys, which the kit switches on where a test asks for them. */
export const FACTOR_FEATURES = { secondFactor: true, apiKeys: true }
/** The routes that mail, to an address of the request. */
export const MAILING = {
  'sign-up': ACCOUNT,
  'password-reset': `${ACCOUNT}/password/forgotten`,
  'sign-in': `${TOKEN_PATH}/mail`,
} as const
export type Mailing = keyof typeof MAILING
export const MAILING_KINDS = Object.keys(MAILING) as Mailing[]

/** Returns what makes a call one of a client's address. */
export const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })
/** Returns an address of a network for each number. */
export const networkOf = (i: number) => `10.${(i >> 8) & 255}.${i & 255}.${i >> 16}`

/** A new password that no rule refuses. */
export const STRONG = 'a quiet harbour at dawn'

/** An API key of the host is the id of its account. */
const API_KEYS = {
  issuer: 'urn:keys',
  accepts: (text: string) => text.startsWith('acc-'),
  async verify(text: string) {
    const issuedAt = new Date()
    // A recent sign-in, so that only the rule about API keys refuses it.
    return {
      id: text,
      accountId: text,
      scopes: [],
      issuedAt,
      claims: { auth_time: Math.floor(Number(issuedAt) / 1000) },
    }
  },
}

/** The ways of a sign-in that a change may overtake. */
const WAYS = ['password', 'mail', 'host'] as const

/** Imports the package for an Express, with mails that begin at once. */
export async function accountPackage(express: AnyExpress) {
  vi.doMock('node:timers/promises', () => ({ setTimeout: async () => {} }))
  const library = await packageOn(express)
  const {
    ACCOUNTS,
    authOf,
    createAuth,
    decodePayload,
    fastPasswords,
    frozenClock,
    ISSUER,
    makeStore,
    memoryStore,
    PASSWORD,
    SECRET,
  } = library
  const { alice, bob } = ACCOUNTS

  /** Starts an app with all account routes. */
  async function start(change: Partial<AuthOptions> = {}) {
    const events: AuthEvent[] = []
    const mails: Mail[] = []
    const pending: Promise<void>[] = []
    const accounts = makeStore()
    const store = memoryStore()
    const sendMail = async (sent: Mail) => {
      mails.push(sent)
      await change.mail?.(sent)
    }
    const auth = createAuth({
      issuer: ISSUER,
      secret: SECRET,
      accounts,
      store,
      passwords: fastPasswords(),
      mail: sendMail,
      defer: (promise) => pending.push(promise),
      onEvent: (event) => events.push(event),
      refresh: 'body',
      signUp: { fields: ['name'] },
      passwordReset: true,
      changePassword: true,
      changeAddress: true,
      deletion: true,
      signInByMail: true,
      ...change,
      ...(change.mail && { mail: sendMail }),
    })
    const app = express().set('trust proxy', true)
    app.use(auth.router)
    app.get('/in', auth.guard(), (_req, res) => void res.json({}))
    if (change.apiKeys) app.get('/by-key', auth.guard({ apiKeys: true }), (_req, res) => void res.json({}))
    app.get('/linked', auth.guard({ ticket: true }), (req, res) => void res.json(authOf(req)))
    app.post('/host/:id', async (req, res, next) => {
      await auth.signIn(String(req.params['id']), req, res).then((body) => res.json(body), next)
    })
    app.post('/act-as/:id', auth.guard(), async (req, res) => {
      res.json(await auth.signIn(String(req.params['id']), req, res, { actor: authOf(req) }))
    })
    app.post('/ticket', auth.guard(), async (req, res) => {
      res.json(await auth.ticket(req, { path: String(req.query['path']), method: String(req.query['method']) }))
    })
    app.use(auth.errors)
    app.use((_req, res) => void res.status(404).end('the host’s own'))
    const { port, url } = await listen(app)

    /** Sends a body to a path, as the bearer of a token. */
    function call(path: string, body?: object, { token, ...sent }: Sent & { token?: string } = {}) {
      const given = body ? asJson(body) : {}
      const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` }
      const headers = { ...given.headers, ...authorization, ...sent.headers }
      return send(port, { method: 'POST', path, ...given, ...sent, headers })
    }

    /** Waits until the work after all responses has ended. */
    const settle = async () => {
      while (pending.length > 0) await pending.pop()
    }

    /** Returns the mails of a kind since the last call, after all work has ended. */
    async function received(kind: MailKind): Promise<Mail[]> {
      await settle()
      const found = mails.filter((one) => one.kind === kind)
      for (const one of found) mails.splice(mails.indexOf(one), 1)
      return found
    }

    /** Returns the code of the only mail of a kind. */
    async function codeOf(kind: MailKind, to?: string): Promise<string> {
      const [one, ...others] = await received(kind)
      expect(others).toEqual([])
      expect(one?.code).toMatch(/^[\w-]{43}$/)
      if (to !== undefined) expect(one?.to).toBe(to)
      return one?.code ?? ''
    }

    /** Signs in, and returns the members of the response. */
    async function signIn(email: string, password: string): Promise<{ token: string; refreshToken: string }> {
      const answer = await call(TOKEN_PATH, { email, password })
      expect(answer.status).toBe(200)
      const { authenticationToken: token, refreshToken } = JSON.parse(answer.body)
      return { token, refreshToken }
    }

    /** Returns the status of a guarded request, and of a refresh. */
    const isIn = async (token: string, path = '/in') =>
      (await send(port, { method: 'GET', path, headers: { Authorization: `Bearer ${token}` } })).status
    const refresh = (refreshToken: string) => call(`${TOKEN_PATH}/refresh`, { refreshToken })
    const of = (type: AuthEvent['type']) => events.filter((event) => event.type === type)

    return {
      auth,
      accounts,
      store,
      app,
      port,
      url,
      events,
      of,
      mails,
      call,
      settle,
      received,
      codeOf,
      signIn,
      isIn,
      refresh,
    }
  }

  /** Expects that a route refuses requests without a token, acting administrators, API keys and tickets, and does nothing. */
  async function expectOnlyUsers(path: string, body?: object, method = 'POST', change: Partial<AuthOptions> = {}) {
    const app = await start({ alsoAccept: [API_KEYS], ...change })
    const { token: ofBob } = await app.signIn(bob.email, PASSWORD)
    const { token: ofAlice } = await app.signIn(alice.email, PASSWORD)
    const acting = JSON.parse((await app.call(`/act-as/${alice.id}`, {}, { token: ofBob })).body)
    const { token: ended } = await app.signIn(alice.email, PASSWORD)
    await app.auth.sessions?.end({ accountId: alice.id }, String(decodePayload(ended)['sid']))
    const ticket = JSON.parse((await app.call(`/ticket?path=${path}&method=${method}`, {}, { token: ofAlice })).body)
    expect(await app.isIn(alice.id)).toBe(200)
    const ask = (sent: { token?: string; path?: string } = {}) => app.call(path, body, { method, ...sent })
    for (const answer of [await ask(), await ask({ path: `${path}?ticket=${ticket}` })])
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^Bearer/)])
    for (const token of ['x', ticket, ended, alice.id])
      expectProblem(await ask({ token }), 401, 'invalid_token', 'Unauthorized')
    expectProblem(await ask({ token: acting.authenticationToken }), 403, 'forbidden', 'Forbidden')
    await app.settle()
    expect([app.mails, await app.accounts.findById(alice.id)]).toEqual([[], alice])
    expect(await app.isIn(ofAlice)).toBe(200)
  }

  /** Expects that a route needs a sign-in within ten minutes. */
  async function expectRecent(
    path: string,
    body: object | undefined,
    method: string,
    status: number,
    change: Partial<AuthOptions> = {},
  ) {
    const clock = frozenClock()
    const app = await start({ clock, ...change })
    const { token } = await app.signIn(alice.email, PASSWORD)
    clock.advance(600_001)
    const old = await app.call(path, body, { method, token })
    expect(old.status).toBe(401)
    expect(JSON.parse(old.body)).toMatchObject({ code: 'insufficient_user_authentication' })
    expect(old.headers['www-authenticate']).toContain('max_age="600"')
    await app.settle()
    expect([app.mails, await app.accounts.findById(alice.id)]).toEqual([[], alice])
    clock.advance(-1)
    expect((await app.call(path, body, { method, token })).status).toBe(status)
  }

  type App = Awaited<ReturnType<typeof start>>

  /**
   * Expects that a sign-in in progress leaves no session, wherever a change overtakes it.
   * @param change changes Alice's account as the bearer of a token, whose session may stay
   */
  async function expectNoOvertaking(change: (app: App, token: string) => Promise<unknown>, staysIn: boolean) {
    for (const way of WAYS)
      for (const place of ['before', 'after'] as const) {
        const { sessions, ...others } = memoryStore()
        const [reached, go] = [deferred<void>(), deferred<void>()]
        let isWaiting = false
        async function wait() {
          isWaiting = false
          reached.resolve()
          await go.promise
        }
        async function add(session: Session) {
          const [waits, where] = [isWaiting, place]
          if (waits && where === 'before') await wait()
          await sessions.add(session)
          if (waits && where === 'after') await wait()
        }
        const app = await start({ store: { ...others, sessions: { ...sessions, add } } })
        const { token } = await app.signIn(alice.email, PASSWORD)
        const [mine] = await sessions.list(alice.id)
        await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
        const code = await app.codeOf('sign-in')
        isWaiting = true
        const signingIn = {
          password: () => app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD }),
          mail: () => app.call(`${TOKEN_PATH}/mail/confirm`, { code }),
          host: () => app.call(`/host/${alice.id}`, {}),
        }[way]()
        await reached.promise
        await change(app, token)
        go.resolve()
        expect([way, place, (await signingIn).status]).toEqual([way, place, 403])
        const left = (await sessions.list(alice.id)).map(({ id }) => id)
        expect([way, place, left]).toEqual([way, place, staysIn ? [mine?.id] : []])
        await app.settle()
      }
  }

  return { ...library, start, expectOnlyUsers, expectRecent, expectNoOvertaking }
}
