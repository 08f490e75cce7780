import express from 'express'
import type { AuthOptions, MailKind } from 'express-token-endpoint'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stepAt, totpAt } from '../../src/factors/totp.js'
import { ACCOUNT, accountPackage, FACTOR_FEATURES } from '../support/account-app.js'
import { fromBase32 } from '../support/base32.js'
import type { Answer } from '../support/host.js'
import { TOKEN_PATH } from '../support/http.js'

/**
 * Pre-account hijacking (GHSA-qq9h-g4jm-xgf3): two people claim one address, and do what the account routes let them do, in any order. Only
 * the reader of a mailbox knows its codes, and only the owner of a phone those of its authenticator app. Each action may be cut off at any
 * call of a store, and is then done again.
 */
const { start, memoryStore, makeStore, decodePayload, frozenClock } = await accountPackage(express)

const CLAIMED = 'victim@example.com'
const [OWNER, OTHER] = ['owner', 'other'] as const
/** The kinds of an authenticator app in the store. */
const [ON, PENDING] = ['totp', 'totp-pending'] as const
const STEP_MS = 30_000
type Person = typeof OWNER | typeof OTHER
const PEOPLE: readonly Person[] = [OWNER, OTHER]
const ADDRESSES = [CLAIMED, CLAIMED, 'owner@example.com', 'other@example.com'] as const

interface Session {
  /** The id of the session, which its next tokens have too. */
  readonly id: string
  readonly account: string
  readonly token: string
  readonly refreshToken: string
  /** True after an act that ends the sessions of before. */
  isOver?: boolean
}

interface Code {
  readonly kind: MailKind
  readonly to: string
  readonly code: string
  /** The account that it was mailed for. Undefined for a sign-up. */
  readonly account: string | undefined
  /** `'perhaps'` after an act that was cut off. */
  isOver?: boolean | 'perhaps'
}

interface Key {
  readonly account: string
  readonly key: string
  /** True after an act that ends the keys of before. */
  isOver?: boolean
}

/** An authenticator app on the phone of a person. */
interface Phone {
  readonly who: Person
  readonly secret: Buffer
}

interface Fault {
  /** The call of a store that fails. */
  readonly call: number
  /** True for a call that has its effect, and whose response is lost. */
  readonly isLate: boolean
}

interface Action {
  readonly what: keyof typeof ACTIONS
  readonly who: Person
  readonly address: (typeof ADDRESSES)[number]
  /** Chooses one of the sessions, the codes or the passwords. */
  readonly n: number
  readonly fault: Fault | undefined
}

/** Creates the stores of an app, whose calls fail when the fault says so. */
function createStores() {
  let left = 0
  let isLate = false
  let last = ''
  function fragile<T extends object>(part: T): T {
    const methods = Object.entries(part).map(([name, method]) => [
      name,
      async (...args: unknown[]) => {
        const fails = --left === 0
        if (fails) last = `${name} ${isLate ? 'late' : ''}`
        if (fails && !isLate) throw new Error('down')
        const result = await method(...args)
        if (fails) throw new Error('the response was lost')
        return result
      },
    ])
    return Object.fromEntries(methods)
  }
  const [memory, accounts] = [memoryStore(), makeStore([])]
  const options = {
    accounts: fragile(accounts),
    store: {
      sessions: fragile(memory.sessions),
      codes: fragile(memory.codes),
      factors: fragile(memory.factors),
    },
  } satisfies Partial<AuthOptions>
  return {
    accounts,
    options,
    /** Returns the factors of an account, or those of some kinds. */
    factorsOf: async (account: string, ...kinds: string[]) =>
      (await memory.factors.list(account)).filter(({ kind }) => kinds.length === 0 || kinds.includes(kind)),
    arm(fault: Fault | undefined) {
      left = fault?.call ?? 0
      isLate = fault?.isLate ?? false
      last = ''
    },
    /** Returns the call that has failed. */
    failed: () => last,
  }
}

/** Returns whether a person has a phone, and does not leave it at home. */
const hasPhone = ({ who, n }: Action, phone: Phone) => phone.who === who && n < 3

type World = Awaited<ReturnType<typeof createWorld>>

async function createWorld() {
  const stores = createStores()
  const clock = frozenClock()
  const app = await start({ ...stores.options, ...FACTOR_FEATURES, clock, limits: false })
  const belongings = () => ({ sessions: [] as Session[], codes: [] as Code[], keys: [] as Key[] })
  const people = { [OWNER]: belongings(), [OTHER]: belongings() }
  const readers: Record<string, Person> = { [CLAIMED]: OWNER, [ADDRESSES[2]]: OWNER, [ADDRESSES[3]]: OTHER }
  /** The people who may be in an account. */
  const insiders = new Map<string, Set<Person>>()
  /** The person who has chosen a password, by its hash. */
  const chosenBy = new Map<string, Person>()
  /** The phone of each account that has an authenticator app, or one that waits for its first code. */
  const phones = { [ON]: new Map<string, Phone>(), [PENDING]: new Map<string, Phone>() }
  let requests = 0
  let passwords = 0

  return {
    app,
    stores,
    people,
    readers,
    insiders,
    chosenBy,
    phones,
    /** Returns the member of a request for a code that was not used before. None without the phone of the account. */
    otp(action: Action, phone: Phone | undefined) {
      if (!phone || !hasPhone(action, phone)) return {}
      clock.advance(STEP_MS)
      return { otp: totpAt(phone.secret, stepAt(clock())) }
    },
    /** Returns the phone whose codes a sign-in needs. */
    phoneOf: async (account: string) =>
      (await stores.factorsOf(account, ON)).length > 0 ? phones[ON].get(account) : undefined,
    call(path: string, body?: object, token?: string, method = 'POST') {
      const address = `10.${requests >> 8}.${requests++ & 255}.1`
      const headers = { 'X-Forwarded-For': address }
      return app.call(path, body, { method, headers, ...(token !== undefined && { token }) })
    },
    newPassword(who: Person) {
      const password = `the password ${++passwords} of ${who}`
      chosenBy.set(`plain:${password}`, who)
      return password
    },
    /** The notices that were sent. */
    notices: [] as string[],
    /** Gives the mails to the readers of their mailboxes. */
    async deliver() {
      await app.settle()
      for (const { kind, to, code } of app.mails.splice(0)) {
        if (code === undefined) {
          this.notices.push(`${kind} to ${to}`)
          continue
        }
        const account = kind === 'new-address' ? undefined : (await stores.accounts.findByEmail(to))?.id
        people[readers[to] as Person].codes.push({ kind, to, code, account })
      }
    },
    /** Notes that the sessions of before are over, besides one. */
    endSessions(account: string, kept?: Session) {
      for (const { sessions } of Object.values(people))
        for (const one of sessions) if (one.account === account && one.id !== kept?.id) one.isOver = true
    },
    /** Notes that the sessions, the codes and the API keys of before are over, besides one session. */
    end(account: string, kept?: Session) {
      this.endSessions(account, kept)
      for (const { codes, keys } of Object.values(people))
        for (const one of [...codes, ...keys]) if (one.account === account) one.isOver = true
    },
    /** Notes that the codes of an account may be over, because an act was cut off. */
    cutOff(account: string) {
      for (const { codes } of Object.values(people))
        for (const one of codes) if (one.account === account) one.isOver ||= 'perhaps'
    },
  }
}

/** Notes a sign-in. */
function enter({ people, insiders }: World, who: Person, answer: Answer): string {
  const { authenticationToken: token, refreshToken } = JSON.parse(answer.body)
  const { sub: account, sid: id } = decodePayload(token) as { sub: string; sid: string }
  insiders.set(account, (insiders.get(account) ?? new Set()).add(who))
  people[who].sessions.push({ id, account, token, refreshToken })
  return account
}

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length]
/** The route that mails the codes of each kind. */
const MAILS: Partial<Record<MailKind, string>> = {
  'sign-up': ACCOUNT,
  'password-reset': `${ACCOUNT}/password/forgotten`,
  'sign-in': `${TOKEN_PATH}/mail`,
  'new-address': `${ACCOUNT}/address`,
}

/** Returns a code, also one that is over. Mostly asks for it before. */
async function codeOf(world: World, action: Action, kind: MailKind): Promise<Code | undefined> {
  if (action.n < 2) await ask(world, { ...action, fault: undefined }, MAILS[kind] ?? '')
  const [first, ...others] = world.people[action.who].codes.filter((one) => one.kind === kind).reverse()
  return action.n < 2 ? first : pick([first, ...others], action.n)
}

const sessionOf = ({ people }: World, { who, n }: Action) => pick([...people[who].sessions].reverse(), n)

/** Expects that the owner of an account gets a notice of a change. */
async function expectNotice(world: World, notice: string) {
  await world.deliver()
  expect(world.notices).toContain(notice)
  world.notices.splice(0)
}

/** Sends a request whose fault cuts it off, and then again. Returns the last response, and whether there was a first one. */
async function send({ stores }: World, { fault }: Action, request: () => Promise<Answer>) {
  stores.arm(fault)
  const first = await request()
  const cutOffAt = stores.failed()
  stores.arm(undefined)
  if (first.status !== 503) return { ...first, cutOffAt: '' }
  return { ...(await request()), cutOffAt }
}

async function ask(world: World, action: Action, path: string) {
  const token = path.endsWith('/address') ? sessionOf(world, action)?.token : undefined
  const { status } = await send(world, action, () => world.call(path, { email: action.address }, token))
  expect([202, 401, 429]).toContain(status)
  await world.deliver()
}

/** Begins the set-up of an authenticator app. */
async function begin(world: World, action: Action) {
  const session = sessionOf(world, action)
  if (!session) return
  const answer = await send(world, action, () => world.call(`${ACCOUNT}/totp`, undefined, session.token))
  expect([200, 401]).toContain(answer.status)
  if (answer.status !== 200) return
  const secret = fromBase32(JSON.parse(answer.body).secret)
  world.phones[PENDING].set(session.account, { who: action.who, secret })
}

/** Expects that what has worked was not over. */
const isOver = (one: { isOver?: boolean | 'perhaps' }, what: string) =>
  expect([what, one.isOver]).not.toEqual([what, true])

const ACTIONS = {
  askToSignUp: (world: World, action: Action) => ask(world, action, ACCOUNT),
  askForReset: (world: World, action: Action) => ask(world, action, `${ACCOUNT}/password/forgotten`),
  askForSignIn: (world: World, action: Action) => ask(world, action, `${TOKEN_PATH}/mail`),
  askForAddress: (world: World, action: Action) => ask(world, action, `${ACCOUNT}/address`),

  async confirmSignUp(world: World, action: Action) {
    const given = await codeOf(world, action, 'sign-up')
    if (!given) return
    const password = world.newPassword(action.who)
    const answer = await send(world, action, () => world.call(`${ACCOUNT}/confirm`, { code: given.code, password }))
    const found = await world.stores.accounts.findByEmail(given.to)
    const isMine = found?.passwordHash === `plain:${password}`
    if (isMine) {
      world.insiders.set(found.id, new Set([action.who]))
      expect(await world.stores.factorsOf(found.id)).toEqual([])
    }
    if (answer.status === 200) {
      isOver(given, 'a code of a sign-up works once')
      expect(enter(world, action.who, answer)).toBe(found?.id)
    } else {
      expect([403, 409]).toContain(answer.status)
      // A request that was cut off has created the account, or the address had one.
      if (answer.cutOffAt && !given.isOver) expect([answer.cutOffAt, found]).not.toEqual([answer.cutOffAt, undefined])
    }
    if (isMine) for (const one of world.people[action.who].codes) if (one.code === given.code) one.isOver = true
  },

  async reset(world: World, action: Action) {
    const given = await codeOf(world, action, 'password-reset')
    if (!given) return
    const { insiders, stores } = world
    const { account = '', code, to } = given
    const password = world.newPassword(action.who)
    const before = await stores.accounts.findById(account)
    const answer = await send(world, action, () => world.call(`${ACCOUNT}/password/reset`, { code, password }))
    const isSet = (await stores.accounts.findById(account))?.passwordHash === `plain:${password}`
    expect([204, 403]).toContain(answer.status)
    if (answer.status === 204) isOver(given, 'a code of a reset works once, and not after another act')
    expect([answer.status === 204, isSet]).toEqual([isSet && answer.status === 204, isSet])
    const hadToWork = !given.isOver && before?.email === to
    if (answer.cutOffAt && hadToWork) expect([answer.cutOffAt, isSet]).toEqual([answer.cutOffAt, true])
    if (!isSet) return
    await expectNotice(world, `password-changed to ${to}`)
    insiders.set(account, new Set([action.who]))
    world.end(account)
  },

  async signInByMail(world: World, action: Action) {
    const given = await codeOf(world, action, 'sign-in')
    if (!given) return
    const before = await world.stores.accounts.findById(given.account ?? '')
    const phone = await world.phoneOf(given.account ?? '')
    const answer = await send(world, action, () =>
      world.call(`${TOKEN_PATH}/mail/confirm`, { code: given.code, ...world.otp(action, phone) }),
    )
    expect([200, 403]).toContain(answer.status)
    if (phone && !hasPhone(action, phone)) {
      // The code of the mail does not sign anybody in.
      expect(answer.status).toBe(403)
      return
    }
    if (answer.status === 200) {
      isOver(given, 'a code of a sign-in works once, and not after another act')
      expect(enter(world, action.who, answer)).toBe(given.account)
    } else if (answer.cutOffAt && !given.isOver && before?.email === given.to) {
      // Its taking was not seen, so nobody can tell whether it has worked.
      expect(answer.cutOffAt).toBe('take late')
    }
    given.isOver = true
  },

  async confirmAddress(world: World, action: Action) {
    const [given, session] = [await codeOf(world, action, 'new-address'), sessionOf(world, action)]
    if (!given || !session) return
    const { code, to } = given
    const before = (await world.stores.accounts.findById(session.account))?.email
    const answer = await send(world, action, () => world.call(`${ACCOUNT}/address/confirm`, { code }, session.token))
    expect([204, 401, 403, 409]).toContain(answer.status)
    if (answer.cutOffAt) world.cutOff(session.account)
    const after = (await world.stores.accounts.findById(session.account))?.email
    if (answer.status === 204) expect(after).toBe(to)
    if (after === before) return
    await expectNotice(world, `address-changed to ${before}`)
    world.end(session.account, session)
  },

  async signIn(world: World, action: Action) {
    const { stores, chosenBy } = world
    const found = await stores.accounts.findByEmail(action.address)
    const hash = found?.passwordHash ?? ''
    const phone = await world.phoneOf(found?.id ?? '')
    // A person who does not know the password guesses.
    const knows = chosenBy.get(hash) === action.who
    const password = knows ? hash.slice('plain:'.length) : world.newPassword(action.who)
    const answer = await send(world, action, () =>
      world.call(TOKEN_PATH, { email: action.address, password, ...world.otp(action, phone) }),
    )
    expect(answer.status).toBe(knows && (!phone || hasPhone(action, phone)) ? 200 : 403)
    if (answer.status === 200) enter(world, action.who, answer)
  },

  async refresh(world: World, action: Action) {
    const session = sessionOf(world, action)
    if (!session) return
    const { refreshToken } = session
    const answer = await send(world, action, () => world.call(`${TOKEN_PATH}/refresh`, { refreshToken }))
    if (answer.status !== 200) return
    isOver(session, 'a refresh token works only while its session does')
    enter(world, action.who, answer)
  },

  async changePassword(world: World, action: Action) {
    const session = sessionOf(world, action)
    const { passwordHash, email } = (await world.stores.accounts.findById(session?.account ?? '')) ?? {}
    const hash = passwordHash ?? ''
    if (!session) return
    const knows = world.chosenBy.get(hash) === action.who
    const password = knows ? hash.slice('plain:'.length) : 'a guess of the old password'
    const newPassword = world.newPassword(action.who)
    const body = { password, newPassword }
    const answer = await send(world, action, () => world.call(`${ACCOUNT}/password`, body, session.token))
    const isSet = (await world.stores.accounts.findById(session.account))?.passwordHash === `plain:${newPassword}`
    expect([204, 401, 403]).toContain(answer.status)
    expect([answer.status === 204, isSet]).toEqual([isSet && answer.status === 204, isSet && knows])
    if (!isSet) return
    // Where the response of the store was lost, the old password is wrong when the request is sent again.
    if (answer.cutOffAt !== 'replacePasswordHash late') await expectNotice(world, `password-changed to ${email}`)
    // The session that changes the password stays, also for its thief.
    const has = (who: Person) => world.people[who].sessions.some(({ id }) => id === session.id)
    world.insiders.set(session.account, new Set(PEOPLE.filter(has)))
    world.end(session.account, session)
  },

  async deleteAccount(world: World, action: Action) {
    const session = sessionOf(world, action)
    if (!session) return
    const answer = await send(world, action, () => world.call(ACCOUNT, undefined, session.token, 'DELETE'))
    expect([204, 401]).toContain(answer.status)
    if (answer.cutOffAt) world.cutOff(session.account)
    const found = await world.stores.accounts.findById(session.account)
    if (answer.status === 204) expect([found, await world.stores.factorsOf(session.account)]).toEqual([undefined, []])
    if (!found) world.end(session.account)
  },

  async makeKey(world: World, action: Action) {
    const session = sessionOf(world, action)
    if (!session) return
    const answer = await send(world, action, () => world.call(`${ACCOUNT}/api-keys`, { name: 'ci' }, session.token))
    expect([201, 401]).toContain(answer.status)
    if (answer.status !== 201) return
    isOver(session, 'a session makes API keys only until it ends')
    world.people[action.who].keys.push({ account: session.account, key: JSON.parse(answer.body).key })
  },

  beginTotp: (world: World, action: Action) => begin(world, action),

  async confirmTotp(world: World, action: Action) {
    if (action.n < 2) await begin(world, { ...action, fault: undefined })
    const session = sessionOf(world, action)
    const phone = world.phones[PENDING].get(session?.account ?? '')
    if (!session || !phone || !hasPhone(action, phone)) return
    const { account, token } = session
    const { email } = (await world.stores.accounts.findById(account)) ?? {}
    const [before] = await world.stores.factorsOf(account, ON)
    const answer = await send(world, action, () =>
      world.call(`${ACCOUNT}/totp/confirm`, world.otp(action, phone), token),
    )
    expect([200, 401, 403]).toContain(answer.status)
    const [after] = await world.stores.factorsOf(account, ON)
    const isSet = after !== undefined && after.data !== before?.data
    if (isSet) world.phones[ON].set(account, phone)
    if (answer.status !== 200) return
    isOver(session, 'a session sets an authenticator app up only until it ends')
    expect(isSet).toBe(true)
    await expectNotice(world, `factors-changed to ${email}`)
    world.endSessions(account, session)
  },

  async removeTotp(world: World, action: Action) {
    const session = sessionOf(world, action)
    if (!session) return
    const { account, token } = session
    const wasOn = (await world.stores.factorsOf(account, ON)).length > 0
    const answer = await send(world, action, () => world.call(`${ACCOUNT}/totp`, undefined, token, 'DELETE'))
    expect([204, 401]).toContain(answer.status)
    if (answer.status !== 204) return
    expect(await world.stores.factorsOf(account, ON, PENDING, 'recovery')).toEqual([])
    if (wasOn) world.endSessions(account, session)
  },

  /** The other person gets the mailbox, or a session: an employee leaves, a thief comes. Only in the second model. */
  async betray({ people, readers, insiders }: World, { who, n }: Action) {
    const thief = who === OWNER ? OTHER : OWNER
    const session = pick(people[who].sessions, n)
    if (n % 2 === 0 || !session) {
      readers[CLAIMED] = who
      return
    }
    people[thief].sessions.push({ ...session })
    insiders.get(session.account)?.add(thief)
  },
}

/** Expects that API keys work only for insiders, and that nobody without a proved mailbox has an authenticator app. */
async function expectOwnFactors({ app, people, insiders, stores, phones, readers }: World, onlyReaders: boolean) {
  for (const who of PEOPLE)
    for (const { account, key, isOver } of people[who].keys) {
      if ((await app.isIn(key, '/by-key')) !== 200) continue
      const [isInsider, found] = [insiders.get(account)?.has(who), await stores.accounts.findById(account)]
      expect([who, 'has a key', isInsider, isOver ?? false]).toEqual([who, 'has a key', true, false])
      if (onlyReaders) expect([found?.email, who]).toEqual([found?.email, readers[found?.email ?? '']])
    }
  if (!onlyReaders) return
  for (const address of new Set(ADDRESSES)) {
    const { id = '' } = (await stores.accounts.findByEmail(address)) ?? {}
    for (const kind of [ON, PENDING])
      if ((await stores.factorsOf(id, kind)).length > 0)
        expect([address, kind, phones[kind].get(id)?.who]).toEqual([address, kind, readers[address]])
  }
}

/** Expects that only insiders are in an account, and nobody after an act that ends everything of before. */
async function expectAlone({ app, people, insiders, stores, chosenBy, readers }: World, onlyReaders: boolean) {
  for (const who of PEOPLE)
    for (const session of people[who].sessions) {
      const isIn = (await app.isIn(session.token)) === 200
      if (!isIn) continue
      const found = await stores.accounts.findById(session.account)
      expect([who, 'is in', insiders.get(session.account)?.has(who), session.isOver ?? false]).toEqual([
        who,
        'is in',
        true,
        false,
      ])
      if (onlyReaders) expect([found?.email, who]).toEqual([found?.email, readers[found?.email ?? '']])
    }
  for (const address of new Set(ADDRESSES)) {
    const found = await stores.accounts.findByEmail(address)
    if (!found) continue
    const knower = chosenBy.get(found.passwordHash ?? '') as Person
    expect([address, insiders.get(found.id)?.has(knower)]).toEqual([address, true])
    if (onlyReaders) expect([address, knower]).toEqual([address, readers[address]])
  }
}

const names = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]

function actionsOf(which: (keyof typeof ACTIONS)[]): fc.Arbitrary<Action[]> {
  const fault = fc.record({ call: fc.integer({ min: 1, max: 12 }), isLate: fc.boolean() })
  const action = fc.record({
    what: fc.constantFrom(...which),
    who: fc.constantFrom(...PEOPLE),
    address: fc.constantFrom(...ADDRESSES),
    n: fc.nat({ max: 3 }),
    fault: fc.option(fault, { nil: undefined, freq: 3 }),
  })
  // Each run begins with the two accounts and their mails, so that the rest has something to do.
  const first = (who: Person, address: Action['address']): Action[] =>
    (['askToSignUp', 'confirmSignUp'] as const).map((what) => ({ what, who, address, n: 0, fault: undefined }))
  const begin = fc.subarray([first(OWNER, ADDRESSES[2]), first(OTHER, ADDRESSES[3]), first(OWNER, CLAIMED)])
  return fc
    .tuple(begin, fc.array(action, { minLength: 6, maxLength: 24, size: 'max' }))
    .map(([before, rest]) => [...before.flat(), ...rest])
}

const FACTOR = Number(process.env['MODEL_RUNS'] ?? 1)

async function holds(which: (keyof typeof ACTIONS)[], onlyReaders: boolean) {
  const property = fc.asyncProperty(actionsOf(which), async (actions) => {
    const world = await createWorld()
    for (const action of actions) {
      await ACTIONS[action.what](world, action)
      await expectAlone(world, onlyReaders)
      await expectOwnFactors(world, onlyReaders)
    }
    for (const who of PEOPLE)
      for (const session of world.people[who].sessions) {
        const { status, body } = await world.call(`${TOKEN_PATH}/refresh`, { refreshToken: session.refreshToken })
        if (status !== 200) continue
        isOver(session, 'a refresh token works only while its session does')
        const account = decodePayload(JSON.parse(body).authenticationToken)['sub'] as string
        expect(world.insiders.get(account)).toContain(who)
      }
  })
  await fc.assert(property, { numRuns: Math.ceil(60 * FACTOR) })
}

const withoutBetrayal = names.filter((name) => name !== 'betray')

it('nobody is in an account but the reader of its mailbox, in any order of two people, and with stores that fail', () =>
  holds(withoutBetrayal, true))

it('whoever proves the mailbox last and sets the password is alone, also after a mailbox or a session has changed hands', () =>
  holds(names, false))
