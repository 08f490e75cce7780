import { all } from '../../../support/concurrency.js'
import { type Fault, fault, must, mustGet, mustSignIn, waitingFault } from '../fault.js'
import { type Handler, sends } from '../server.js'

const later = (status: number, retryAfter?: string): Handler =>
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
  waits('429 with Retry-After in seconds', () => later(429, '1'), 1000),
  waits('503 with Retry-After as a date', (now) => later(503, new Date(now + 2000).toUTCString()), 1000),
  waits('two Retry-After headers that a proxy joined', () => later(429, '1, 3600'), 1000),
  waits('429 without Retry-After', () => later(429), 0),
  waits('503 without Retry-After', () => later(503), 0),
  waits('503 with a Retry-After that has no meaning', () => later(503, 'soon'), 0),
  waits('503 with a Retry-After in the past', (now) => later(503, new Date(now - 9000).toUTCString()), 0),
  gives('429 with Retry-After of one minute, 20 calls one after the other', later(429, '60'), 1),
  gives('503 again and again, without Retry-After', later(503), 40),
  gives('503 again and again, with Retry-After: 0', later(503, '0'), 40),
  fault('429 with Retry-After of ten years', async ({ server, start, fails, pass }) => {
    server.next.token.push(later(429, '315360000'))
    const client = start()
    const error = (await fails(client.call('/x'), 'try_later')) as { retryAt?: Date }
    const wait = Number(error.retryAt) - Date.now()
    must(wait > 0 && wait <= 3_601_000, 'has no limit for Retry-After')
    pass(3_602_000)
    mustGet(await client.call('/x'), 200)
  }),
  fault('429 with Retry-After of half an hour, and two hours of sleep', async ({ server, start, fails, pass }) => {
    server.next.token.push(later(429, '1800'))
    const client = start()
    await fails(client.call('/x'), 'try_later')
    pass(7_200_000, { asleep: true })
    mustGet(await client.call('/x'), 200)
  }),
  fault('503 without Retry-After, for a caller that does not wait', async ({ server, start, fails }) => {
    server.always.token = later(503)
    for (let client = 0; client < 20; client++) await fails(start({ maxWait: 0 }).call('/x'), 'try_later')
    mustSignIn(server, 20)
  }),
  fault('429, then a sign-out and another sign-in', async ({ server, start, fails }) => {
    server.always.token = later(429, '600')
    const client = start()
    await fails(client.call('/x'), 'try_later')
    client.signOut()
    await fails(client.call('/x'), 'try_later')
    mustSignIn(server, 1)
  }),
]
