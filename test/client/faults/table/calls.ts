import { all, deferred, until } from '../../../support/concurrency.js'
import {
  type Fault,
  fault,
  holdSignIns,
  must,
  mustCall,
  mustGet,
  mustSignIn,
  mustSignInAtMost,
  waitingFault,
} from '../fault.js'
import { EMAIL, type FaultServer, INVALID_TOKEN, PASSWORD, sends } from '../server.js'

const BEARER = 'Bearer realm="https://api.example.com"'
const SCOPE = `${BEARER}, error="insufficient_scope", scope="reports:read"`
const STEP_UP = `${BEARER}, error="insufficient_user_authentication", error_description="Sign in again.", max_age="300"`

/** Returns a fault in which an API refuses a request for a reason that a new token does not change. */
const passesOn = (name: string, status: number, headers: Record<string, string>): Fault =>
  fault(name, async ({ server, signedIn }) => {
    const client = await signedIn()
    server.next.api.push(sends(status, headers))
    mustGet(await client.call('/x'), status)
    mustSignIn(server, 1)
    mustCall(server, 2)
  })

/** Holds a 401 for the next request until the returned function is called. */
function holdRefusal(server: FaultServer): () => void {
  const { promise: opened, resolve: open } = deferred<void>()
  server.next.api.push((res) => opened.then(() => res.writeHead(401, { 'WWW-Authenticate': INVALID_TOKEN }).end()))
  return open
}

const chunks = (...texts: string[]) => new Blob(texts).stream()

/** Refusals of the API. */
export const api: Fault[] = [
  fault('a token that was revoked', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
    mustCall(server, 3)
  }),
  fault('20 concurrent calls with a revoked token', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    for (const response of await all(20, () => client.call('/x'))) mustGet(response, 200)
    mustSignIn(server, 2)
  }),
  fault('a 401 for the old token that arrives after the renewal', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    const open = holdRefusal(server)
    const slow = client.call('/slow')
    await until(() => mustCall(server, 2))
    mustGet(await client.call('/x'), 200)
    open()
    mustGet(await slow, 200)
    mustSignIn(server, 2)
  }),
  fault('an API that refuses every token', async ({ server, start }) => {
    server.always.api = sends(401, { 'WWW-Authenticate': INVALID_TOKEN })
    const client = start()
    for (let call = 0; call < 30; call++) mustGet(await client.call('/x'), 401)
    mustSignInAtMost(server, 10)
  }),
  fault('one API that refuses every token, next to one that accepts them', async ({ server, start }) => {
    server.always.api = (res, seen) =>
      seen.path === '/broken'
        ? res.writeHead(401, { 'WWW-Authenticate': INVALID_TOKEN }).end()
        : server.answerApi(res, seen)
    const client = start()
    for (let call = 0; call < 20; call++) {
      mustGet(await client.call('/broken'), 401)
      mustGet(await client.call('/x'), 200)
    }
    mustSignInAtMost(server, 10)
  }),
  fault('a token that is revoked each minute', async ({ server, pass, signedIn }) => {
    const client = await signedIn()
    for (let minute = 0; minute < 6; minute++) {
      pass(60_000)
      server.revoke()
      mustGet(await client.call('/x'), 200)
    }
    mustSignIn(server, 7)
  }),
  fault('a revoked token, and a sign-in that the server refuses', async ({ server, fails, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    server.always.token = sends(403)
    for (let call = 0; call < 10; call++) await fails(client.call('/x'), 'refused')
    mustSignIn(server, 2)
  }),
  fault('a POST with a revoked token', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    const response = await client.call('/x', { method: 'POST', body: 'a=1' })
    mustGet(response, 200)
    must(JSON.parse(response.body).body === 'a=1', 'repeats the request without its body')
  }),
  fault('a POST with a stream and a revoked token', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    const response = await client.call('/x', { method: 'POST', body: chunks('a=1') })
    mustGet(response, 401)
    mustCall(server, 2)
    mustGet(await client.call('/x', { method: 'POST', body: chunks('a=1') }), 200)
    mustSignIn(server, 2)
  }),
  fault('a Request with a body and a revoked token', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    const response = await client.call(new Request(`${server.url}/x`, { method: 'PUT', body: 'a=1' }))
    must(response?.status === 200, `the caller gets ${response?.status}, not 200`)
    must(JSON.parse(response.body).body === 'a=1', 'repeats the request without its body')
  }),
  passesOn('403 for a missing scope', 403, { 'WWW-Authenticate': SCOPE }),
  passesOn('403 of a route', 403, {}),
  passesOn('503 of an API', 503, { 'Retry-After': '5' }),
  passesOn('401 for a request whose token a proxy dropped', 401, { 'WWW-Authenticate': BEARER }),
  passesOn('401 for another scheme', 401, { 'WWW-Authenticate': 'Basic realm="x"' }),
  passesOn('401 for a step-up, without an owner for it', 401, { 'WWW-Authenticate': STEP_UP }),
  fault('401 for a step-up, with an owner who consents', async ({ server, start }) => {
    const client = start({ onStepUp: () => ({ password: PASSWORD }) })
    await client.call('/x')
    server.next.api.push(sends(401, { 'WWW-Authenticate': STEP_UP }))
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault('401 for a step-up, five concurrent calls', async ({ server, start }) => {
    let asked = 0
    const client = start({
      async onStepUp(response) {
        asked++
        return (await response.text()) === 'sign in again' && { password: PASSWORD }
      },
    })
    await client.call('/x')
    const old = server.seen.api[0]?.authorization
    server.always.api = (res, seen) =>
      seen.authorization === old
        ? res.writeHead(401, { 'WWW-Authenticate': STEP_UP }).end('sign in again')
        : server.answerApi(res, seen)
    for (const response of await all(5, () => client.call('/x'))) mustGet(response, 200)
    must(asked === 1, `asks the owner ${asked} times`)
    mustSignIn(server, 2)
  }),
  fault('401 for a step-up, with an owner who reads the response and declines', async ({ server, start }) => {
    const client = start({ onStepUp: async (response) => (await response.text()) === '' && { password: PASSWORD } })
    await client.call('/x')
    server.next.api.push(sends(401, { 'WWW-Authenticate': STEP_UP }, 'sign in again'))
    const response = await client.call('/x')
    must(response.status === 401 && response.body === 'sign in again', 'leaves the caller a body that was read')
  }),
  fault('a 401 for the POST of one person, after another person has signed in', async ({ server, signedIn }) => {
    const client = await signedIn()
    const open = holdRefusal(server)
    const post = client.call('/x', { method: 'POST', body: 'a=1' })
    await until(() => mustCall(server, 2))
    client.signOut()
    mustGet(await client.call('/y'), 200)
    open()
    mustGet(await post, 401)
    const posts = server.seen.api.filter(({ method }) => method === 'POST').length
    must(posts === 1, "repeats the request with another person's token")
    mustSignIn(server, 2)
  }),
  fault('a sign-out while a refused call waits for a new token', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.revoke()
    holdSignIns(server)
    const call = client.call('/x')
    await until(() => mustSignIn(server, 2))
    client.signOut()
    mustGet(await call, 401)
    mustCall(server, 2)
  }),
  ...(['signOut', 'close'] as const).map(
    (end): Fault =>
      fault(`${end}() while the owner decides on a step-up`, async ({ server, start }) => {
        let asked = 0
        const client = start({
          onStepUp() {
            asked++
            return new Promise<false>(() => {})
          },
        })
        server.next.api.push(sends(401, { 'WWW-Authenticate': STEP_UP }))
        const call = client.call('/x')
        await until(() => must(asked === 1, 'does not ask the owner'))
        client[end]()
        mustGet(await call, 401)
        mustSignIn(server, 1)
      }),
  ),
  fault('a caller that aborts while the owner decides on a step-up', async ({ server, start, fails }) => {
    const controller = new AbortController()
    const client = start({
      onStepUp() {
        controller.abort()
        return new Promise<false>(() => {})
      },
    })
    server.next.api.push(sends(401, { 'WWW-Authenticate': STEP_UP }))
    await fails(client.call('/x', { signal: controller.signal }), DOMException.ABORT_ERR)
  }),
  fault('401 without a challenge', async ({ server, signedIn }) => {
    const client = await signedIn()
    server.next.api.push(sends(401))
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
]

/** Callers that change their mind, and apps with faults. */
export const callers: Fault[] = [
  fault('a caller that aborts while others wait', async ({ server, start, fails }) => {
    const open = holdSignIns(server)
    const client = start()
    const controller = new AbortController()
    const aborted = fails(client.call('/x', { signal: controller.signal }), DOMException.ABORT_ERR)
    const patient = client.call('/x')
    await until(() => mustSignIn(server, 1))
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
    await until(() => mustSignIn(server, 1))
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
    await until(() => mustSignIn(server, 1))
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
      const client = start()
      const waiting = fails(client.call('/x'), code)
      client[end]()
      await waiting
      must(client.asked() === 0, 'asks for credentials after the end')
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
