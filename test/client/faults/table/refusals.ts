import { deferred } from '../../../support/concurrency.js'
import { eventually, type Fault, fault, must, mustGet, mustSignIn, waitingFault } from '../fault.js'
import { EMAIL, PASSWORD, sends } from '../server.js'

const HOUR = 3_600_000
const wrong = () => ({ email: EMAIL, password: 'wrong' })

/** Refused credentials. */
export const refusals: Fault[] = [
  fault('wrong credentials of a service, 50 calls one after the other', async ({ server, start, fails }) => {
    const client = start({ credentials: wrong })
    for (let call = 0; call < 50; call++) await fails(client.call('/x'), 'refused')
    mustSignIn(server, 1)
  }),
  fault('a person who mistypes the password once', async ({ server, start }) => {
    const asked: boolean[] = []
    const client = start({
      interactive: true,
      credentials({ refused }) {
        asked.push(refused)
        return { email: EMAIL, password: refused ? PASSWORD : 'mistyped' }
      },
    })
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
    must(asked.join() === 'false,true', 'does not say that the server refused the first password')
  }),
  fault('a person who does not know the password', async ({ server, start, fails }) => {
    const client = start({ interactive: true, credentials: wrong })
    for (let call = 0; call < 10; call++) await fails(client.call('/x'), 'refused')
    mustSignIn(server, 2)
  }),
  waitingFault('a person, and a server that asks to wait twice', async ({ server, start }) => {
    server.next.token.push(sends(429, { 'Retry-After': '1' }), sends(503))
    let asked = 0
    const client = start({
      interactive: true,
      credentials() {
        asked++
        return { email: EMAIL, password: PASSWORD }
      },
    })
    mustGet(await client.call('/x'), 200)
    must(asked === 1, `asks ${asked} times`)
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
    await eventually(() => server.seen.token.length > 0)
    client.signOut()
    open()
    await first
    mustGet(await client.call('/x'), 200)
  }),
]
