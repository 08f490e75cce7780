import type { AuthEvent, AuthOptions, Mail, MailKind } from 'express-token-endpoint'
import { expect, vi } from 'vitest'
import { type AnyExpress, asJson, packageOn, type Sent, send } from './host.js'
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
/** A new password that no rule refuses. */
export const STRONG = 'a quiet harbour at dawn'

/** Imports the package for an Express, with mails that begin at once. */
export async function accountPackage(express: AnyExpress) {
  vi.doMock('node:timers/promises', () => ({ setTimeout: async () => {} }))
  const library = await packageOn(express)
  const { createAuth, fastPasswords, ISSUER, makeStore, memoryStore, SECRET } = library

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
    const isIn = async (token: string) =>
      (await send(port, { method: 'GET', path: '/in', headers: { Authorization: `Bearer ${token}` } })).status
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

  return { ...library, start }
}
