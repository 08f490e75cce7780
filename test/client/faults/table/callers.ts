import {
  eventually,
  type Fault,
  fault,
  holdSignIns,
  must,
  mustCall,
  mustGet,
  mustSignIn,
  waitingFault,
} from '../fault.js'
import { EMAIL, PASSWORD } from '../server.js'

/** Callers that change their mind, and apps with faults. */
export const callers: Fault[] = [
  fault('a caller that aborts while others wait', async ({ server, start, fails }) => {
    const open = holdSignIns(server)
    const client = start()
    const controller = new AbortController()
    const aborted = fails(client.call('/x', { signal: controller.signal }), DOMException.ABORT_ERR)
    const patient = client.call('/x')
    await eventually(() => server.seen.token.length > 0)
    controller.abort()
    await aborted
    open()
    mustGet(await patient, 200)
    mustSignIn(server, 1)
  }),
  fault('a signal that is aborted already', async ({ server, start, fails }) => {
    await fails(start().call('/x', { signal: AbortSignal.abort() }), DOMException.ABORT_ERR)
    must(server.seen.api.length === 0, 'calls the API')
  }),
  fault('close() while callers wait', async ({ server, start, fails }) => {
    holdSignIns(server)
    const client = start()
    const waiting = fails(client.call('/x'), 'closed')
    await eventually(() => server.seen.token.length > 0)
    client.close()
    await waiting
    await fails(client.call('/x'), 'closed')
    mustSignIn(server, 1)
  }),
  fault('a sign-out during the sign-in', async ({ server, start, fails }) => {
    const open = holdSignIns(server)
    const client = start()
    const ends: unknown[] = []
    client.onChange(({ expiresAt }) => ends.push(expiresAt))
    const waiting = fails(client.call('/x'), 'signed_out')
    await eventually(() => server.seen.token.length > 0)
    client.signOut()
    await waiting
    open()
    mustGet(await client.call('/x'), 200)
    must(ends.filter((end) => end !== undefined).length === 1, 'keeps the token of a sign-in before the sign-out')
  }),
  ...(
    [
      ['signOut', 'signed_out'],
      ['close', 'closed'],
    ] as const
  ).flatMap(([end, code]): Fault[] => [
    fault(`${end}() in the moment of a call`, async ({ start, fails }) => {
      let asked = 0
      const client = start({
        credentials() {
          asked++
          return { email: EMAIL, password: PASSWORD }
        },
      })
      const waiting = fails(client.call('/x'), code)
      client[end]()
      await waiting
      must(asked === 0, 'asks for credentials after the end')
    }),
    fault(`${end}() in the moment of a call, with a token`, async ({ server, fails, signedIn }) => {
      const client = await signedIn()
      const waiting = fails(client.call('/x'), code)
      client[end]()
      await waiting
      mustCall(server, 1)
    }),
  ]),
  fault('credentials that never arrive', async ({ server, start, fails }) => {
    const client = start({ timeout: 0.05, credentials: () => new Promise(() => {}) })
    await fails(client.call('/x'), 'unreachable')
    mustSignIn(server, 0)
  }),
  waitingFault('a person who takes longer than the time limit', async ({ start }) => {
    const credentials = () => new Promise((resolve) => setTimeout(resolve, 2100, { email: EMAIL, password: PASSWORD }))
    mustGet(await start({ timeout: 2, interactive: true, credentials }).call('/x'), 200)
  }),
  fault('credentials that are not text', async ({ server, start }) => {
    for (const password of [undefined, 1234, { text: PASSWORD }, [PASSWORD], true]) {
      const client = start({ credentials: () => ({ email: EMAIL, password }) })
      const failure = await client.call('/x').then(String, String)
      must(failure.startsWith('TypeError'), 'sends credentials that are not text')
    }
    mustSignIn(server, 0)
  }),
  fault('a credentials callback that throws what cannot be read', async ({ server, start }) => {
    const unreadable = {
      get code() {
        throw new Error('a fault of the app')
      },
    }
    let isDown = true
    const client = start({
      credentials() {
        if (isDown) throw unreadable
        return { email: EMAIL, password: PASSWORD }
      },
    })
    const failure = await client.call('/x').catch((error: unknown) => error)
    must(failure === unreadable, 'hides the error of the callback')
    isDown = false
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 1)
  }),
  fault('a listener that throws', async ({ start }) => {
    const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve))
    const client = start()
    client.onChange(({ expiresAt }) => {
      if (expiresAt) throw new Error('a fault of the app')
    })
    mustGet(await client.call('/x'), 200)
    must(String(await uncaught).includes('a fault of the app'), 'hides the error of the listener')
  }),
]
