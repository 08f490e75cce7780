import { inspect } from 'node:util'
import express, { type Request } from 'express'
import { createAuth, requireBearer } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type FoundAccount, readAccount } from '../../../src/accounts/account.js'
import { noteLookUp } from '../../../src/accounts/mistakes.js'
import { isUserOf } from '../../../src/accounts/request-user.js'
import { ACCOUNTS, fastPasswords, ISSUER, SECRET } from '../../support/fixtures.js'
import { asJson, GOOD } from '../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../support/http.js'

const HASH = '$2b$04$abcdefghijklmnopqrstuuZ7Q0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0Y0'
const found = (original: object) => readAccount(original) as FoundAccount & { user: Record<string, unknown> }
const userOf = (original: object) => found(original).user

/** Returns the texts of a log, a spread and a response. */
const shownBy = (user: object) => [
  inspect(user, { depth: 9 }),
  inspect({ ...user }, { depth: 9 }),
  JSON.stringify(user),
]

/** A document as Mongoose has it: the values in one member, getters on the prototype. */
class Doc {
  _doc: { _id: string; name: string; password: string }
  constructor(_id: string) {
    this._doc = { _id, name: 'Alice', password: HASH }
  }
  get password() {
    return this._doc.password
  }
  greet() {
    return `Hello, ${this._doc.name}`
  }
  setName(name: string) {
    this._doc.name = name
  }
  matches(hash: string) {
    return this.password === hash
  }
  toJSON() {
    return { ...this._doc }
  }
  [inspect.custom]() {
    return this._doc
  }
}
const mapped = (user: object) => ({ id: 'acc-1', passwordHash: HASH, user })

describe('the user of a row', () => {
  it('has all members but the hash, under each name', () => {
    const rest = { id: 'acc-1', theme: 'dark', profile: { passwordHash: 'of the profile' } }
    expect(userOf({ ...rest, passwordHash: 'plain:x', password_digest: 'plain:x', old: HASH })).toEqual(rest)
    expect(userOf(Object.assign(Object.create(null), rest, { passwordHash: 'plain:x' }))).toEqual(rest)
  })

  it('has no hash in its own rows and lists, and keeps what is beside it', () => {
    const at = new Date(0)
    const row = {
      id: 'acc-1',
      passwordHash: HASH,
      local: { email: 'a@b.c', at, password: HASH, old: [HASH, 'x'] },
      theme: { dark: true },
    }
    const user = userOf(row)
    expect(user).toEqual({ id: 'acc-1', local: { email: 'a@b.c', at, old: ['x'] }, theme: { dark: true } })
    expect(user['theme']).toBe(row.theme)
    expect(row.local.password).toBe(HASH)
  })

  it('has no hash that a getter or a symbol would show', () => {
    const row: Record<PropertyKey, unknown> = { id: 'acc-1', passwordHash: HASH, [Symbol('row')]: HASH }
    Object.defineProperty(row, 'password', { get: () => HASH, enumerable: true })
    for (const shown of [inspect(userOf(row)), inspect({ ...userOf(row) })]) expect(shown).not.toContain(HASH)
    const user = {
      get password() {
        return HASH
      },
    }
    expect(userOf(mapped(user))).toEqual({})
    expect(inspect(userOf(mapped({ name: 'Alice', [Symbol('row')]: HASH })))).toBe("{ name: 'Alice' }")
  })

  it('has no hash in rows that lead back to it, and keeps their circle', () => {
    const row: Record<string, unknown> = { id: 'acc-1', passwordHash: HASH }
    const [orders, alone]: object[][] = [[], []]
    orders?.push({ of: row, all: orders })
    alone?.push({ all: alone })
    Object.assign(row, { orders, alone })
    const user = userOf(row)
    expect(inspect(user, { depth: 20 })).not.toContain(HASH)
    expect(user).toEqual({ id: 'acc-1', orders: [{ of: user, all: user['orders'] }], alone: row['alone'] })
    expect(user['alone']).toBe(alone)
  })

  it('has no hash in a row of many levels', () => {
    let local: object = { password: HASH }
    for (let level = 0; level < 20; level++) local = { local: [local] }
    const shown = JSON.stringify(userOf({ id: 'acc-1', passwordHash: null, local }))
    expect(shown).toBe(JSON.stringify({ id: 'acc-1', local }).replace(`"password":"${HASH}"`, ''))
  })

  it('does not get the prototype that a member of parsed JSON names', () => {
    const user = userOf(JSON.parse(`{ "id": "acc-1", "passwordHash": null, "__proto__": { "old": "${HASH}" } }`))
    expect(JSON.stringify(user)).toBe('{"id":"acc-1","__proto__":{}}')
  })

  it('is there soon although a row loads more and more rows: only the nearest 1000 are searched', () => {
    let loaded = 0
    const lazy = () => ({
      get next(): unknown {
        loaded++
        return loaded < 5000 ? lazy() : undefined
      },
    })
    expect(userOf(mapped({ orders: lazy(), local: { password: HASH } }))).toHaveProperty('local', {})
    const others = ['the user', 'local']
    expect(loaded + others.length).toBe(1000)
  })

  it('is there although a getter of its row throws', () => {
    const lazy = { get: () => expect.fail('not loaded'), enumerable: true }
    const row = Object.defineProperty({ id: 'acc-1', passwordHash: HASH }, 'orders', lazy)
    expect(userOf(row)).toEqual({ id: 'acc-1', orders: undefined })
    expect(() => noteLookUp({}, found(row))).not.toThrow()
  })

  it('is there although a relation that its row loads late is rejected, and the process goes on', async () => {
    const unhandled = vi.fn()
    process.once('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    const lazy = { get: () => Promise.reject(new Error('not loaded')), enumerable: true }
    const row = Object.defineProperty({ id: 'acc-1', passwordHash: HASH }, 'orders', lazy)
    noteLookUp({}, found(row))
    await new Promise(setImmediate)
    expect(unhandled).not.toHaveBeenCalled()
  })

  it('leaves the row of the store as it is', () => {
    const row = { ...ACCOUNTS.alice }
    expect(found(row).hostAccount).toBe(row)
    expect(row).toEqual(ACCOUNTS.alice)
  })
})

describe('the user of an object with methods', () => {
  it('is that object, where no member shows the hash', () => {
    class Account {
      #hash = HASH
      id = 'acc-1'
      get passwordHash() {
        return this.#hash
      }
    }
    const account = new Account()
    expect(userOf(account)).toBe(account)
    const entity = new (class extends Account {
      profile = { passwordHash: 'of the profile' }
      team = null
    })()
    Object.defineProperty(entity, 'password', { value: HASH })
    expect(userOf(mapped(entity))).toBe(entity)
  })

  it('is not searched for a hash in the bytes of a picture', () => {
    class Account {
      picture = Buffer.from('picture')
    }
    const account = new Account()
    const keys = vi.spyOn(Object, 'keys')
    const user = userOf(mapped(account))
    const isRead = keys.mock.calls.flat().includes(account.picture)
    keys.mockRestore()
    expect(user).toBe(account)
    expect(isRead).toBe(false)
  })

  it('does not show the hash of an object with methods in it', () => {
    class Local {
      password = HASH
    }
    class Account {
      local = new Local()
    }
    const user = userOf(mapped(new Account()))
    expect(user['local']).toBeInstanceOf(Local)
    for (const shown of shownBy(user)) expect(shown).not.toContain(HASH)
  })

  it('has its own form in a log and no other in JSON, where it has only the first', () => {
    class Account {
      name = 'Alice'
      passwordHash = 'plain:x';
      [inspect.custom]() {
        return { ...this }
      }
    }
    const user = userOf(mapped(new Account()))
    expect(inspect(user)).toBe("{ name: 'Alice' }")
    expect(user).not.toHaveProperty('toJSON')
  })

  it('has the methods and getters, which still know the hash', () => {
    class Account {
      id = 'acc-1'
      passwordHash = HASH
      isMine = (hash: string) => this.matches(hash)
      matches(hash: string) {
        return hash === this.passwordHash
      }
    }
    const account = new Account()
    const user = userOf(account) as unknown as Account
    expect(user).toBeInstanceOf(Account)
    expect([user.matches(HASH), user.isMine(HASH), user.id]).toEqual([true, true, 'acc-1'])
    expect(Object.keys(account)).toContain('passwordHash')
    for (const shown of shownBy(user)) expect(shown).not.toContain(HASH)
    expect(JSON.parse(JSON.stringify(user))).toEqual({ id: 'acc-1' })
  })

  it('does not show the hash of an accessor that each object has, also where another accessor throws', () => {
    class Entity {
      readonly name = 'Alice'
      constructor() {
        const asMember = { enumerable: true, configurable: true }
        Object.defineProperty(this, 'password', { ...asMember, get: () => HASH })
        Object.defineProperty(this, 'orders', { enumerable: false, get: () => fail() })
        Object.defineProperty(this, 'isReady', { ...asMember, get: (): boolean => this.name !== 'Alice' || fail() })
      }
    }
    const fail = () => {
      throw new Error('not loaded')
    }
    const user = userOf(mapped(new Entity()))
    expect(user['password']).toBe(HASH)
    expect(Object.keys(user)).toEqual(['name', 'isReady'])
    expect(inspect(user, { getters: true })).not.toContain(HASH)
  })
})

it('a frozen model with its own toJSON does not show the hash', () => {
  class Account {
    id = 'acc-1'
    passwordHash = HASH
    toJSON = () => ({ ...this })
  }
  const user = userOf(Object.freeze(new Account()))
  for (const shown of shownBy(user)) expect(shown).not.toContain(HASH)
})

const ROW = Symbol('row')

it('a model does not show the hash in its inner rows, in a member of a symbol, or behind a proxy', () => {
  class Model {
    options = { include: [{ row: { password: HASH } }] };
    [ROW] = { password: HASH }
    get password() {
      return HASH
    }
    toJSON() {
      return { name: 'Alice', local: { password: HASH } }
    }
  }
  for (const model of [new Model(), new Proxy(new Model(), {})]) {
    const user = userOf(mapped(model)) as unknown as Model
    expect([user.password, user.options]).toEqual([HASH, model.options])
    for (const shown of shownBy(user)) expect(shown).not.toContain(HASH)
    expect(JSON.parse(JSON.stringify(user))).toEqual({ name: 'Alice', local: {} })
  }
})

describe('the member "user" of an account', () => {
  it('is the user, and the object for the decisions of the host', () => {
    const user = { email: 'alice@example.com' }
    expect(found(mapped(user))).toMatchObject({ account: { id: 'acc-1' } })
    expect(userOf(mapped(user))).toBe(user)
    expect(found(mapped(user)).hostAccount).toBe(user)
  })

  it.each([
    ['a text', 'alice'],
    ['null', null],
    ['a list', [1]],
  ])('is an ordinary member when it is %s', (_, user) => {
    expect(userOf({ id: 'acc-1', passwordHash: null, user })).toEqual({ id: 'acc-1', user })
  })

  it('does not show the hash that a document keeps, and changes the same document', () => {
    const doc = new Doc('acc-1')
    const user = userOf(mapped(doc)) as unknown as Doc
    expect(user).toBeInstanceOf(Doc)
    expect([user.greet(), user.matches(HASH), user.password]).toEqual(['Hello, Alice', true, HASH])
    for (const shown of shownBy(user)) expect(shown).not.toContain(HASH)
    expect(JSON.parse(JSON.stringify(user))).toEqual({ _id: 'acc-1', name: 'Alice' })
    expect(inspect(user)).toContain('Alice')
    user.setName('Bob')
    expect(doc._doc).toEqual({ _id: 'acc-1', name: 'Bob', password: HASH })
    expect(found(mapped(doc)).hostAccount).toBe(doc)
  })

  it('shows what toJSON returns without the hash of any form, until the host replaces toJSON', () => {
    class Plain extends Doc {
      override toJSON = () => ({ name: 'Alice', passwordHash: 'plain:x' }) as never
    }
    const user = userOf(mapped(new Plain('acc-1')))
    expect(JSON.stringify(user)).toBe('{"name":"Alice"}')
    user['toJSON'] = () => 'Bob'
    expect(JSON.stringify(user)).toBe('"Bob"')
    delete user['toJSON']
    expect(user['toJSON']).toBe(Doc.prototype.toJSON)
  })

  it('shows what toJSON returns, where that is no object', () => {
    class Short extends Doc {
      override toJSON = () => 'Alice' as never
    }
    expect(JSON.stringify(userOf(mapped(new Short('acc-1'))))).toBe('"Alice"')
  })
})

describe('isUserOf', () => {
  it('knows the account of a user whose id has another name', () => {
    const user = userOf(mapped(new Doc('other')))
    expect([isUserOf('acc-1', user), isUserOf('other', user), isUserOf('undefined', user)]).toEqual([
      true,
      false,
      false,
    ])
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

describe('a store that maps names to the accounts of a model', () => {
  class Model {
    readonly key = 7
    greet() {
      return `Hello from ${this.key}`
    }
  }
  const user = new Model()
  const row = { id: ACCOUNTS.alice.id, passwordHash: ACCOUNTS.alice.passwordHash, user }
  const accounts = { findByEmail: () => row, findById: (id: string) => (id === row.id ? row : undefined) }

  it('gives the model to each function of the host, to the login and to req.user', async () => {
    const seen: unknown[] = []
    const options = { accounts, passwords: fastPasswords(), limits: false as const, onEvent() {} }
    const auth = createAuth({
      issuer: ISSUER,
      keys: { alg: 'HS256', secret: SECRET },
      ...options,
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
    expect(seen).toHaveLength(7)
    for (const one of seen) expect(one).toBe(user)
  })
})
