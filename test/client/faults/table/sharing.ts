import { all } from '../../../support/concurrency.js'
import { type Fault, fault, holdSignIns, must, mustGet, mustSignIn, mustSignInAtMost } from '../fault.js'

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
    await soon(() => server.seen.token.length === 2, 'does not renew before the token expires')
    open()
    await soonCalls(client, () => server.seen.api.at(-1)?.authorization !== first?.authorization)
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

/** Gives a client that works in the background some time. */
async function soon(fits: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 1000 && !fits(); turn++) await new Promise((resolve) => setTimeout(resolve, 5))
  must(fits(), what)
}

async function soonCalls(client: { call(path: string): Promise<{ status: number }> }, fits: () => boolean) {
  for (let turn = 0; turn < 100 && !fits(); turn++) mustGet(await client.call('/x'), 200)
  must(fits(), 'does not use the new token')
}
