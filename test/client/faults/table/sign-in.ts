import type { ServerResponse } from 'node:http'
import { all, deferred, until } from '../../../support/concurrency.js'
import { type Fault, fault, holdSignIns, must, mustGet, mustSignIn, mustSignInAtMost, waitingFault } from '../fault.js'
import { EMAIL, type FaultServer, type Handler, PASSWORD, sends } from '../server.js'

const HOUR = 3_600_000

/** One sign-in for all callers, before the token expires. */
export const sharing: Fault[] = [
  fault('100 callers at first use', async ({ server, start }) => {
    const client = start()
    for (const response of await all(100, () => client.call('/x'))) mustGet(response, 200)
    mustSignIn(server, 1)
  }),
  fault('100 callers at the moment of expiry', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    pass(HOUR)
    const before = server.seen.api.length
    for (const response of await all(100, () => client.call('/x'))) mustGet(response, 200)
    mustSignIn(server, 2)
    const wasted = server.seen.api.length - before - 100
    must(wasted === 0, `sends the expired token ${wasted} times`)
  }),
  fault('the last minutes of a token, with a slow token endpoint', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    pass(0.94 * HOUR)
    for (let call = 0; call < 3; call++) mustGet(await client.call('/x'), 200)
    mustSignIn(server, 1)
    const open = holdSignIns(server)
    pass(0.04 * HOUR)
    mustGet(await client.call('/x'), 200)
    mustGet(await client.call('/x'), 200)
    const [first, ...others] = server.seen.api
    for (const { authorization } of others)
      must(authorization === first?.authorization, 'waits for the new token, although the old one works')
    await until(() => mustSignIn(server, 2))
    open()
    await until(async () => {
      mustGet(await client.call('/x'), 200)
      must(server.seen.api.at(-1)?.authorization !== first?.authorization, 'does not use the new token')
    })
    mustSignIn(server, 2)
  }),
  fault('the last seconds of a token', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    pass(HOUR - 10_000)
    mustGet(await client.call('/x'), 200)
    const [first, second] = server.seen.api
    must(first?.authorization !== second?.authorization, 'sends a token that expires within 10 s')
    mustSignIn(server, 2)
  }),
  fault('a token endpoint that is down while the old token still works', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    server.always.token = (res) => res.destroy()
    pass(0.98 * HOUR)
    for (const response of await all(10, () => client.call('/x'))) mustGet(response, 200)
    pass(0.018 * HOUR)
    mustGet(await client.call('/x'), 200)
  }),
  fault('a token that lives one second', async ({ server, pass, start }) => {
    server.state.lifetime = 1000
    const client = start()
    const begin = server.now()
    for (let call = 0; call < 35; call++) {
      for (const response of await all(5, () => client.call('/x'))) mustGet(response, 200)
      pass(100)
    }
    // A slow machine takes longer than the 3.5 s that pass here.
    mustSignInAtMost(server, Math.ceil((server.now() - begin) / 500) + 1)
  }),
  fault('a day of sleep', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    pass(24 * HOUR, { asleep: true })
    for (const response of await all(10, () => client.call('/x'))) mustGet(response, 200)
    mustSignIn(server, 2)
    must(server.seen.api.length === 11, 'sends the expired token')
  }),
]

const asksToWait = (status: number, retryAfter?: string): Handler =>
  sends(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter })

/** Returns a fault in which the server asks all callers to wait, and then lets them in. */
const waits = (name: string, handler: (now: number) => Handler, atLeast: number): Fault =>
  waitingFault(name, async ({ server, start }) => {
    server.next.token.push((res, seen) => handler(server.now())(res, seen))
    const client = start()
    for (const response of await all(20, () => client.call('/x'))) mustGet(response, 200)
    mustSignIn(server, 2)
    const [first, second] = server.seen.token
    must((second?.at ?? 0) - (first?.at ?? 0) >= atLeast, 'signs in before the time that Retry-After names')
  })

/** Returns a fault in which the server refuses every sign-in for now. The client must not call again and again. */
const gives = (name: string, handler: Handler, most: number): Fault =>
  waitingFault(name, async ({ server, start, fails }) => {
    server.always.token = handler
    const client = start({ maxWait: 1 })
    for (let call = 0; call < 20; call++) await fails(client.call('/x'), 'try_later')
    const { length } = server.seen.token
    must(length <= most, `calls the token endpoint ${length} times for 20 calls`)
  })

/** Token endpoints that ask to try later. */
export const retries: Fault[] = [
  waits('429 with Retry-After in seconds', () => asksToWait(429, '1'), 1000),
  waits('503 with Retry-After as a date', (now) => asksToWait(503, new Date(now + 2000).toUTCString()), 1000),
  waits('two Retry-After headers that a proxy joined', () => asksToWait(429, '1, 3600'), 1000),
  waits('429 without Retry-After', () => asksToWait(429), 0),
  waits('503 without Retry-After', () => asksToWait(503), 0),
  waits('503 with a Retry-After that has no meaning', () => asksToWait(503, 'soon'), 0),
  waits('503 with a Retry-After in the past', (now) => asksToWait(503, new Date(now - 9000).toUTCString()), 0),
  gives('429 with Retry-After of one minute, 20 calls one after the other', asksToWait(429, '60'), 1),
  gives('503 again and again, without Retry-After', asksToWait(503), 40),
  gives('503 again and again, with Retry-After: 0', asksToWait(503, '0'), 40),
  fault('429 with Retry-After of ten years', async ({ server, start, fails, pass }) => {
    server.next.token.push(asksToWait(429, '315360000'))
    const client = start()
    const error = (await fails(client.call('/x'), 'try_later')) as { retryAt?: Date }
    const wait = Number(error.retryAt) - Date.now()
    must(wait > 0 && wait <= 3_601_000, 'has no limit for Retry-After')
    pass(3_602_000)
    mustGet(await client.call('/x'), 200)
  }),
  fault('429 with Retry-After of half an hour, and two hours of sleep', async ({ server, start, fails, pass }) => {
    server.next.token.push(asksToWait(429, '1800'))
    const client = start()
    await fails(client.call('/x'), 'try_later')
    pass(7_200_000, { asleep: true })
    mustGet(await client.call('/x'), 200)
  }),
  fault('503 without Retry-After, for a caller that does not wait', async ({ server, start, fails }) => {
    server.always.token = asksToWait(503)
    for (let client = 0; client < 20; client++) await fails(start({ maxWait: 0 }).call('/x'), 'try_later')
    mustSignIn(server, 20)
  }),
  fault('429, then a sign-out and another sign-in', async ({ server, start, fails }) => {
    server.always.token = asksToWait(429, '600')
    const client = start()
    await fails(client.call('/x'), 'try_later')
    client.signOut()
    await fails(client.call('/x'), 'try_later')
    mustSignIn(server, 1)
  }),
]

/** Makes the server refuse all accounts but one with 429. */
function limitOthers(server: FaultServer): void {
  server.always.token = (res, seen) =>
    (JSON.parse(seen.body).email === EMAIL ? server.answerToken : asksToWait(429, '900'))(res, seen)
}

/** Returns options with an account that a fault changes, and the number of times that the client asked for it. */
function changing(interactive: boolean) {
  const account = { email: 'alcie@example.com', password: PASSWORD, asked: 0 }
  return { account, options: { interactive, credentials: async () => ({ ...account, asked: ++account.asked }) } }
}

/** Failed-login limits of accounts. */
export const limits: Fault[] = [
  fault('a person who mistypes the address, and then types the right one', async ({ server, start, fails }) => {
    limitOthers(server)
    const { account, options } = changing(true)
    const client = start(options)
    await fails(client.call('/x'), 'try_later')
    account.email = EMAIL
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault('another password for an address that has to wait', async ({ server, start, fails, pass }) => {
    limitOthers(server)
    const { account, options } = changing(true)
    const client = start(options)
    await fails(client.call('/x'), 'try_later')
    account.password = 'another'
    for (const end of [() => {}, client.signOut]) {
      end()
      await fails(client.call('/x'), 'try_later')
    }
    mustSignIn(server, 1)
    must(account.asked === 3, `shows the form ${account.asked} times`)
    pass(902_000)
    await fails(client.call('/x'), 'try_later')
    mustSignIn(server, 2)
  }),
  fault('a limit of the whole network, and three accounts in turn', async ({ server, start, fails, pass }) => {
    const { account, options } = changing(true)
    const client = start(options)
    for (const minutes of [15, 10, 5]) {
      server.next.token.push(asksToWait(429, `${60 * minutes}`))
      account.email = `person-${minutes}@example.com`
      await fails(client.call('/x'), 'try_later')
    }
    mustSignIn(server, 3)
    pass(400_000)
    for (const minutes of [15, 10]) {
      account.email = `person-${minutes}@example.com`
      await fails(client.call('/x'), 'try_later')
    }
    mustSignIn(server, 3)
    account.email = 'person-5@example.com'
    await fails(client.call('/x'), 'refused')
  }),
  fault(
    'a service whose account has to wait, and a sign-out with another account',
    async ({ server, start, fails }) => {
      limitOthers(server)
      const { account, options } = changing(false)
      const client = start(options)
      for (let call = 0; call < 20; call++) await fails(client.call('/x'), 'try_later')
      must(account.asked === 1, `asks ${account.asked} times for credentials`)
      client.signOut()
      for (let call = 0; call < 20; call++) await fails(client.call('/x'), 'try_later')
      must(account.asked === 2, `asks ${account.asked} times for credentials`)
      mustSignIn(server, 1)
      client.signOut()
      account.email = EMAIL
      mustGet(await client.call('/x'), 200)
      mustSignIn(server, 2)
    },
  ),
  fault('503 for one account, and then another account', async ({ server, start, fails }) => {
    server.always.token = asksToWait(503, '900')
    const { account, options } = changing(true)
    const client = start(options)
    await fails(client.call('/x'), 'try_later')
    account.email = EMAIL
    client.signOut()
    await fails(client.call('/x'), 'try_later')
    mustSignIn(server, 1)
    must(account.asked === 1, 'shows the form while nobody may sign in')
  }),
  fault('more than 16 accounts that have to wait', async ({ server, start, fails }) => {
    server.always.token = asksToWait(429, '900')
    const { account, options } = changing(true)
    const client = start(options)
    for (let round = 0; round < 2; round++) {
      for (let person = 0; person < 40; person++) {
        account.email = `person-${person}@example.com`
        await fails(client.call('/x'), 'try_later')
      }
    }
    must(server.seen.token.length > 40, 'keeps the times of any number of accounts')
  }),
]

const wrong = () => ({ email: EMAIL, password: 'wrong' })

/** Refused credentials. */
export const refusals: Fault[] = [
  fault('wrong credentials of a service, 50 calls one after the other', async ({ server, start, fails }) => {
    const client = start({ credentials: wrong })
    for (let call = 0; call < 50; call++) await fails(client.call('/x'), 'refused')
    mustSignIn(server, 1)
  }),
  fault('a person who mistypes the password once', async ({ server, start }) => {
    const asked: (string | false)[] = []
    const client = start({
      interactive: true,
      credentials({ refused }) {
        asked.push(refused ? refused.code : false)
        return { email: EMAIL, password: refused ? PASSWORD : 'mistyped' }
      },
    })
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
    must(asked.join() === 'false,invalid_credentials', 'does not say that the server refused the first password')
  }),
  fault('a person who does not know the password', async ({ server, start, fails }) => {
    const client = start({ interactive: true, credentials: wrong })
    for (let call = 0; call < 10; call++) await fails(client.call('/x'), 'refused')
    mustSignIn(server, 2)
  }),
  waitingFault('a person, and a server that asks to wait twice', async ({ server, start }) => {
    server.next.token.push(sends(429, { 'Retry-After': '1' }), sends(503))
    const client = start({ interactive: true })
    mustGet(await client.call('/x'), 200)
    must(client.asked() === 1, `asks ${client.asked()} times`)
  }),
  fault('a person who cancels while the old token still works', async ({ start, pass }) => {
    let asked = 0
    const client = start({
      interactive: true,
      credentials() {
        if (asked++ > 0) throw new Error('cancelled')
        return { email: EMAIL, password: PASSWORD }
      },
    })
    await client.call('/x')
    pass(HOUR - 10_000)
    for (let call = 0; call < 20; call++) mustGet(await client.call('/x'), 200)
    must(asked === 1, `asks ${asked - 1} times`)
  }),
  fault('a new password after a sign-out', async ({ server, start, fails }) => {
    let password = 'old'
    const client = start({ credentials: () => ({ email: EMAIL, password }) })
    await fails(client.call('/x'), 'refused')
    password = PASSWORD
    client.signOut()
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault('a password change while the old token still works', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    server.always.token = sends(403)
    pass(0.98 * HOUR)
    for (let call = 0; call < 20; call++) mustGet(await client.call('/x'), 200)
    must(server.seen.token.length === 2, `signs in ${server.seen.token.length} times, not twice`)
  }),
  fault('a refusal that arrives after a sign-out', async ({ server, start, fails }) => {
    const { promise: opened, resolve: open } = deferred<void>()
    server.next.token.push((res) => opened.then(() => res.writeHead(403).end()))
    const client = start()
    const first = fails(client.call('/x'), 'signed_out')
    await until(() => mustSignIn(server, 1))
    client.signOut()
    open()
    await first
    mustGet(await client.call('/x'), 200)
  }),
]

const JSON_TYPE = { 'Content-Type': 'application/json' }
const IN_A_DAY = new Date(Date.now() + 24 * HOUR).toISOString()
const result = (members: object) =>
  JSON.stringify({ authenticationToken: 'Tmade-up', expiration: IN_A_DAY, ...members })
const made = (text: string) => sends(200, JSON_TYPE, text)
/** A token response with other members. */
const odd = (members: object) => made(result(members))
/** A page of a proxy. */
const html = (status: number, page: string) => sends(status, { 'Content-Type': 'text/html' }, page)
const starts = (res: ServerResponse, headers = {}) => res.writeHead(200, { ...JSON_TYPE, ...headers })

const HALF = '{"authenticationToken":"T'
const breaks: Handler = (res) => starts(res, { 'Content-Length': 500 }).write(HALF, () => res.destroy())

/** Returns a fault in which a sign-in fails, and the next one succeeds. */
const recovers = (name: string, handler: Handler, code = 'unexpected'): Fault =>
  waitingFault(name, async ({ server, start, fails }) => {
    server.next.token.push(handler)
    const client = start({ timeout: 4 })
    await fails(client.call('/x'), code)
    must(server.seen.api.length === 0, 'calls the API without a valid token')
    mustGet(await client.call('/x'), 200)
  })

/** Returns a fault that is gone at once. The caller must not see it. */
const passes = (name: string, handler: Handler, code: string): Fault[] => [
  waitingFault(name, async ({ server, start }) => {
    server.next.token.push(handler)
    mustGet(await start().call('/x'), 200)
    mustSignIn(server, 2)
  }),
  waitingFault(`${name}, twice`, async ({ server, start, fails }) => {
    server.next.token.push(handler, handler)
    await fails(start().call('/x'), code)
    mustSignInAtMost(server, 2)
  }),
]

/** Responses that are not what the specification says, and connections that break. */
export const malformed: Fault[] = [
  recovers('truncated JSON', made(result({}).slice(0, -10))),
  recovers('a 200 without a body', sends(200)),
  recovers('a 200 without a token', odd({ authenticationToken: undefined })),
  recovers('a token with a line break', odd({ authenticationToken: 'T\r\nX-Evil: 1' })),
  recovers('an empty token', odd({ authenticationToken: '' })),
  recovers('an expiration that is not a time', odd({ expiration: 'in an hour' })),
  recovers('an expiration in the past', odd({ expiration: '2020-01-01T00:00:00.000Z' })),
  recovers('a token in __proto__', made(`{"__proto__":${result({})}}`)),
  recovers('an expiration without a time zone', odd({ expiration: IN_A_DAY.slice(0, -1) })),
  recovers('a 403 with a page of a proxy', html(403, '<h1>Blocked</h1>')),
  recovers('204 in place of 200', sends(204)),
  recovers('500', sends(500, {}, 'Internal Server Error')),
  recovers('404', sends(404)),
  ...passes('502 of a proxy', sends(502), 'unexpected'),
  ...passes('a connection that is closed before the response', (res) => res.destroy(), 'unreachable'),
  ...passes('a connection that is closed within the response', breaks, 'unreachable'),
  recovers('a half-open connection: no response', () => {}, 'unreachable'),
  recovers('a half-open connection: half a response', (res) => starts(res).write(HALF), 'unreachable'),
  recovers('a response without end', (res) => {
    starts(res)
    const more = () => {
      if (!res.destroyed) res.write(' '.repeat(16_384), () => setImmediate(more))
    }
    more()
  }),
  fault('a server that is not there', async ({ other, start, fails }) => {
    await other.stop()
    await fails(start({ url: other.url }).call('/x'), 'unreachable')
  }),
]
