import { all } from '../../../support/concurrency.js'
import { type Fault, fault, moveClocks, must, mustGet, mustSignIn } from '../fault.js'
import type { FaultServer } from '../server.js'

const HOUR = 3_600_000

const noneExpired = (server: FaultServer, calls: number) =>
  must(server.seen.api.length === calls, 'sends a token that has expired')

/** Wrong clocks. */
export const clocks: Fault[] = [
  fault('a clock that is an hour fast', async ({ server, start, pass }) => {
    moveClocks({ wall: HOUR })
    const client = start()
    for (let call = 0; call < 10; call++) mustGet(await client.call('/x'), 200)
    mustSignIn(server, 1)
    pass(HOUR)
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault('a clock that is an hour slow', async ({ server, start, pass }) => {
    moveClocks({ wall: -HOUR })
    const client = start()
    for (let call = 0; call < 10; call++) mustGet(await client.call('/x'), 200)
    mustSignIn(server, 1)
    pass(HOUR)
    for (const response of await all(10, () => client.call('/x'))) mustGet(response, 200)
    mustSignIn(server, 2)
    noneExpired(server, 20)
  }),
  fault('a clock that is set back during the session', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    moveClocks({ wall: -HOUR })
    pass(HOUR)
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
    noneExpired(server, 2)
  }),
  fault('no Date header, and a clock that is a day fast', async ({ server, start }) => {
    server.state.sendsDate = false
    moveClocks({ wall: 24 * HOUR })
    const client = start()
    for (let call = 0; call < 10; call++) mustGet(await client.call('/x'), 200)
    mustSignIn(server, 1)
    server.revoke()
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault('no Date header, and a clock that is fast by nearly a lifetime', async ({ server, start, pass }) => {
    server.state.sendsDate = false
    moveClocks({ wall: HOUR - 20_000 })
    const client = start()
    for (let minute = 0; minute < 10; minute++) {
      mustGet(await client.call('/x'), 200)
      pass(60_000)
    }
    mustSignIn(server, 1)
  }),
]
