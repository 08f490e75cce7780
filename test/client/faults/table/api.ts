import { all, deferred } from '../../../support/concurrency.js'
import {
  eventually,
  type Fault,
  fault,
  holdSignIns,
  must,
  mustCall,
  mustGet,
  mustSignIn,
  mustSignInAtMost,
} from '../fault.js'
import { type FaultServer, INVALID_TOKEN, sends } from '../server.js'

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
    await eventually(() => server.seen.api.length === 2)
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
    const client = start({ onStepUp: () => true })
    await client.call('/x')
    server.next.api.push(sends(401, { 'WWW-Authenticate': STEP_UP }))
    mustGet(await client.call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault('a 401 for the POST of one person, after another person has signed in', async ({ server, signedIn }) => {
    const client = await signedIn()
    const open = holdRefusal(server)
    const post = client.call('/x', { method: 'POST', body: 'a=1' })
    await eventually(() => server.seen.api.length === 2)
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
    await eventually(() => server.seen.token.length === 2)
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
            return new Promise<boolean>(() => {})
          },
        })
        server.next.api.push(sends(401, { 'WWW-Authenticate': STEP_UP }))
        const call = client.call('/x')
        await eventually(() => asked === 1)
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
        return new Promise<boolean>(() => {})
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
