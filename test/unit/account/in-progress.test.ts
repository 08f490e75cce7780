// Tests features/{password-reset,change-password,change-address}.ts
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { deferred } from '../../support/concurrency.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const NEW = 'alice@example.org'

describe.each(EXPRESS)('a change that is in progress, on %s', async (_name, express) => {
  const { start, ACCOUNTS, PASSWORD } = await accountPackage(express)
  const { alice, passwordless } = ACCOUNTS
  const other = `${STRONG} too`

  type App = Awaited<ReturnType<typeof start>>

  /** Makes the next call of a method wait. Returns when it was called, and the function that lets it continue. */
  function holdNext<T extends object>(target: T, name: keyof T) {
    const [called, released] = [deferred<void>(), deferred<void>()]
    const method = target[name] as (...args: unknown[]) => unknown
    target[name] = (async (...args: unknown[]) => {
      target[name] = method as T[keyof T]
      called.resolve()
      await released.promise
      return method.apply(target, args)
    }) as T[keyof T]
    return { called: called.promise, release: () => released.resolve() }
  }

  async function codesFor(app: App) {
    const { token } = await app.signIn(alice.email, PASSWORD)
    await app.call(`${ACCOUNT}/address`, { email: NEW }, { token })
    const address = await app.codeOf('new-address', NEW)
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    return { token, address, reset: await app.codeOf('password-reset', alice.email) }
  }

  it('a reset by the old address does not survive a change of the address', async () => {
    const app = await start()
    const { token, address, reset } = await codesFor(app)
    const held = holdNext(app.store.sessions, 'removeAll')
    const resetting = app.call(`${ACCOUNT}/password/reset`, { code: reset, password: STRONG })
    await held.called
    const moved = await app.call(`${ACCOUNT}/address/confirm`, { code: address }, { token })
    held.release()
    expect([(await resetting).status, moved.status]).toEqual([403, 204])
    expect((await app.call(TOKEN_PATH, { email: NEW, password: STRONG })).status).toBe(403)
    await app.signIn(NEW, PASSWORD)
  })

  it('a change of the address does not survive a reset by the old one', async () => {
    const app = await start()
    const { token, address, reset } = await codesFor(app)
    const held = holdNext(app.accounts, 'replaceEmail')
    const moving = app.call(`${ACCOUNT}/address/confirm`, { code: address }, { token })
    await held.called
    const done = await app.call(`${ACCOUNT}/password/reset`, { code: reset, password: STRONG })
    held.release()
    expect([done.status, (await moving).status]).toEqual([204, 401])
    await app.signIn(alice.email, STRONG)
    expect(app.of('address.changed')).toEqual([])
  })

  it('an account without a password gets none from a session that has ended', async () => {
    const app = await start()
    const { auth } = app
    const request = { headers: {}, socket: {} } as never
    const [thief, owner] = [await auth.signIn(passwordless.id, request), await auth.signIn(passwordless.id, request)]
    const held = holdNext(app.accounts, 'replacePasswordHash')
    const token = thief.authenticationToken
    const changing = app.call(`${ACCOUNT}/password`, { newPassword: other }, { token })
    await held.called
    expect(await app.isIn(owner.authenticationToken)).toBe(401)
    await auth.sessions?.endAll(passwordless.id)
    held.release()
    expect((await changing).status).toBe(401)
    expect((await app.call(TOKEN_PATH, { email: passwordless.email, password: other })).status).toBe(403)
    expect(app.of('password.changed')).toEqual([])
  })

  /** Breaks a method from the next call on. */
  function breakFrom<T extends object>(target: T, name: keyof T) {
    target[name] = (() => Promise.reject(new Error('down'))) as T[keyof T]
  }

  const CHANGES = {
    address: {
      method: 'replaceEmail',
      notice: 'address-changed',
      event: 'address.changed',
      send: async (app: App, token: string, code: string) =>
        app.call(`${ACCOUNT}/address/confirm`, { code }, { token }),
    },
    password: {
      method: 'replacePasswordHash',
      notice: 'password-changed',
      event: 'password.changed',
      send: async (app: App, token: string, _code: string) =>
        app.call(`${ACCOUNT}/password`, { password: PASSWORD, newPassword: other }, { token }),
    },
  } as const

  it.each([
    ['address', 'cannot be checked'],
    ['address', 'cannot be undone'],
    ['address', 'cannot be undone any more'],
    ['password', 'cannot be checked'],
    ['password', 'cannot be undone'],
  ] as const)('of the %s that %s is told to the owner', async (what, failure) => {
    const { method, notice, event, send } = CHANGES[what]
    const app = await start()
    const { token, address } = await codesFor(app)
    const change = app.accounts[method]
    app.accounts[method] = (async (id: string, from: string, to: string) => {
      const isChanged = await change(id, from, to)
      if (failure === 'cannot be checked') breakFrom(app.store.sessions, 'find')
      else await app.auth.sessions?.endAll(alice.id)
      if (failure === 'cannot be undone') breakFrom(app.accounts, method)
      if (failure === 'cannot be undone any more') app.accounts[method] = async () => false
      return isChanged
    }) as never
    expect((await send(app, token, address)).status).toBe(failure === 'cannot be undone any more' ? 401 : 503)
    expect(await app.received(notice)).toMatchObject([{ to: alice.email }])
    expect(app.of(event)).toMatchObject([{ accountId: alice.id }])
  })
})
