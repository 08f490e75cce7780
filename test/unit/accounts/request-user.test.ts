import { runInNewContext } from 'node:vm'
import express, { type Request } from 'express'
import { createAuth, memoryAccounts, requireBearer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { type FoundAccount, readAccount } from '../../../src/accounts/account.js'
import { noteLookUp } from '../../../src/accounts/mistakes.js'
import { isUserOf } from '../../../src/accounts/request-user.js'
import { expectMisuse } from '../../support/failures.js'
import { ACCOUNTS, fastPasswords, ISSUER, SECRET } from '../../support/fixtures.js'
import { asJson, GOOD } from '../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../support/http.js'

const HASH = '$2b$04$abcdefghijklmnopqrstuuZ7Q0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0'
const found = (original: object) => readAccount(original) as FoundAccount & { user: Record<string, unknown> }
const userOf = (original: object) => found(original).user
const paired = (user: unknown, more: object = {}) => ({ account: { id: 'acc-1', passwordHash: HASH, ...more }, user })

describe('the user of a row', () => {
  it('has all members but passwordHash', () => {
    const rest = { id: 'acc-1', theme: 'dark', profile: { passwordHash: 'of the profile' }, old: HASH }
    expect(userOf({ ...rest, passwordHash: HASH })).toEqual(rest)
    expect(userOf({ ...rest, passwordHash: null })).toEqual(rest)
    expect(userOf(Object.assign(Object.create(null), rest, { passwordHash: HASH }))).toEqual(rest)
  })

  it('has them where the row is of another realm, as in Jest', () => {
    const row = runInNewContext(`({ id: 'acc-1', passwordHash: 'plain:x', theme: 'dark' })`)
    expect(userOf(row)).toEqual({ id: 'acc-1', theme: 'dark' })
  })

  it('does not get the prototype that a member of parsed JSON names', () => {
    const user = userOf(JSON.parse('{ "id": "acc-1", "passwordHash": null, "__proto__": { "admin": true } }'))
    expect(JSON.stringify(user)).toBe('{"id":"acc-1","__proto__":{"admin":true}}')
    expect(user['admin']).toBeUndefined()
  })

  it('is there although a getter of its row throws', () => {
    const lazy = { get: () => expect.fail('not loaded'), enumerable: true }
    const row = Object.defineProperty({ id: 'acc-1', passwordHash: HASH }, 'orders', lazy)
    expect(userOf(row)).toEqual({ id: 'acc-1', orders: undefined })
    expect(() => noteLookUp({}, found(row))).not.toThrow()
  })

  it.each([
    ['a relation', { email: 'a@b.c' }],
    ['a text', 'alice'],
    ['null', null],
  ])('has its member "user", which is %s', (_, user) => {
    expect(userOf({ id: 'acc-1', passwordHash: HASH, user })).toEqual({ id: 'acc-1', user })
  })

  it('has its relations "account" and "user", because a row with a hash is no pair', () => {
    const relations = { account: { id: 'other', passwordHash: null }, user: { id: 'other' } }
    expect(found({ id: 'acc-1', passwordHash: HASH, ...relations })).toMatchObject({ account: { id: 'acc-1' } })
    expect(userOf({ id: 'acc-1', passwordHash: HASH, ...relations })).toEqual({ id: 'acc-1', ...relations })
  })

  it('leaves the row of the store as it is', () => {
    const row = { ...ACCOUNTS.alice }
    userOf(row)
    expect(row).toEqual(ACCOUNTS.alice)
  })
})

describe('the user of an object with a class', () => {
  class Model {
    id = 'acc-1'
    scopes = ['a']
    password = HASH
    get passwordHash() {
      return this.password
    }
    greet() {
      return `Hello, ${this.id}`
    }
  }

  it('has only the members of an account, and no hash', () => {
    expect(userOf(new Model())).toEqual({ id: 'acc-1', scopes: ['a'] })
    expect(Object.getPrototypeOf(userOf(new Model()))).toBe(Object.prototype)
  })

  it('is also that of an object that inherits from a row', () => {
    const row = Object.create({ id: 'acc-1', passwordHash: HASH })
    row.secret = HASH
    expect(userOf(row)).toEqual({ id: 'acc-1' })
  })
})

describe('a pair', () => {
  it('has the user as it is', () => {
    class Model {
      #name = 'Alice'
      greet = () => this.#name
    }
    for (const user of [new Model(), Object.freeze({ password: HASH }), new Proxy({}, {})])
      expect(userOf(paired(user))).toBe(user)
  })

  it('has the checked members of its account', () => {
    expect(found(paired({}, { scopes: ['a'], disabled: null })).account).toEqual({
      id: 'acc-1',
      passwordHash: HASH,
      scopes: ['a'],
    })
    expectMisuse(() => found(paired({}, { scopes: 'a b' })), /"scopes" must be an array/)
    expectMisuse(() => found(paired({}, { passwordHash: undefined, password: HASH })), /Return "password" as "passw/)
  })

  it.each([undefined, null, 'alice', ['alice']])('is an error when its user is %j', (user) => {
    expectMisuse(() => found(paired(user)), /"user" next to "account" must be an object, but is/)
  })

  it('is an error when its account is none', () => {
    expectMisuse(() => found({ account: 'acc-1', user: {} }), /"id" must be a non-empty string/)
  })
})

describe('isUserOf', () => {
  it('knows the account of a user whose id has another name', () => {
    const user = userOf(paired({ _id: 7 }, { id: 'other' }))
    expect(['acc-1', 'other', 'undefined'].map((id) => isUserOf(id, user))).toEqual([false, true, false])
  })

  it.each([
    ['a text', { id: 'acc-1' }, true],
    ['a number', { id: 7 }, false],
    ['nothing', {}, false],
  ])('compares the id of a user of the host that is %s', (_, user, expected) => {
    expect(isUserOf('acc-1', user)).toBe(expected)
    expect(isUserOf('7', { id: 7 })).toBe(true)
  })

  it.each([undefined, null, 'acc-1', ['acc-1']])('refuses %j', (user) => {
    expect(isUserOf('acc-1', user)).toBe(false)
  })
})

const shared = { passwords: fastPasswords(), onEvent() {} }
const keys = { alg: 'HS256', secret: SECRET } as const

describe('a store that returns its models beside their accounts', () => {
  class Model {
    readonly key = 7
    greet() {
      return `Hello from ${this.key}`
    }
  }
  const user = new Model()
  const { id, passwordHash } = ACCOUNTS.alice
  const accounts = {
    findByEmail: () => ({ account: { id, passwordHash }, user }),
    findById: (asked: string) => (asked === id ? { account: { id, passwordHash }, user } : undefined),
  }

  it('gives the model to each function of the host, to the login and to req.user', async () => {
    const seen: unknown[] = []
    const auth = createAuth({
      issuer: ISSUER,
      keys,
      accounts,
      ...shared,
      beforeSignIn: ({ account }) => void seen.push(account),
      respond({ token, account }) {
        seen.push(account)
        return { token, greeting: account.greet() }
      },
    })
    const allow = (_req: unknown, account: Model) => account.greet() !== '' && seen.push(account) > 0
    const app = express().use(auth.router)
    const withoutAccounts = requireBearer({ tokens: auth.tokens })
    app.get('/me', auth.guard({ allow }), withoutAccounts, (req, res) => {
      seen.push(auth.userOf(req))
      res.json({ greeting: auth.userOf(req).greet() })
    })
    app.post('/passkey', async (req: Request, res) => void res.json(await auth.signIn(user, req, res)))
    const send = client((await listen(app)).port)
    const greeting = 'Hello from 7'
    const signedIn = JSON.parse((await send({ ...asJson(GOOD), method: 'POST', path: TOKEN_PATH })).body)
    expect(signedIn).toMatchObject({ greeting })
    expect(JSON.parse((await send(bearer(signedIn.token, '/me'))).body)).toEqual({ greeting })
    expect(JSON.parse((await send({ ...asJson({}), method: 'POST', path: '/passkey' })).body)).toMatchObject({
      greeting,
    })
    seen.push((await auth.logIn(GOOD)).account)
    expect(seen).toHaveLength(8)
    for (const one of seen) expect(one).toBe(user)
  })
})

it('each function of the host gets a row without its hash', async () => {
  const seen: object[] = []
  const auth = createAuth({
    issuer: ISSUER,
    keys,
    accounts: memoryAccounts([ACCOUNTS.alice]),
    ...shared,
    beforeSignIn: ({ account }) => void seen.push(account),
    respond({ token, account }) {
      seen.push(account)
      return { token }
    },
  })
  const app = express().use(auth.router)
  app.get('/me', auth.guard({ allow: (_req, account) => seen.push(account) > 0 }), (req, res) => {
    seen.push(auth.userOf(req))
    res.json(auth.userOf(req))
  })
  const send = client((await listen(app)).port)
  const { token } = JSON.parse((await send({ ...asJson(GOOD), method: 'POST', path: TOKEN_PATH })).body)
  const { passwordHash: _, ...row } = ACCOUNTS.alice
  expect(JSON.parse((await send(bearer(token, '/me'))).body)).toEqual(row)
  expect(seen).toEqual([row, row, row, row])
})
