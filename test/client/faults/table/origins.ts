import { type Fault, fault, must, mustCall, mustGet, mustSignIn } from '../fault.js'
import { type FaultServer, INVALID_TOKEN, sends } from '../server.js'

const redirects = (status: number, to: string) => sends(status, { Location: to })

function mustKeep({ seen }: FaultServer): void {
  must(
    seen.api.every(({ authorization }) => authorization === undefined),
    'sends the token to another origin',
  )
  must(seen.token.length === 0, 'sends the password to another origin')
}

/** Other origins, and redirects to them. */
export const origins: Fault[] = [
  ...[302, 307].map((status) =>
    fault(`a ${status} of the API to another origin`, async ({ server, other, start }) => {
      server.next.api.push(redirects(status, `${other.url}/x`))
      await start()
        .call('/x')
        .catch(() => {})
      mustKeep(other)
      mustSignIn(server, 1)
    }),
  ),
  fault('a 401 of another origin after a redirect', async ({ server, other, signedIn }) => {
    const client = await signedIn()
    for (let call = 0; call < 3; call++) {
      server.next.api.push(redirects(302, `${other.url}/x`))
      other.next.api.push(sends(401, { 'WWW-Authenticate': INVALID_TOKEN }))
      mustGet(await client.call('/x'), 401)
    }
    mustGet(await client.call('/x'), 200)
    mustKeep(other)
    mustSignIn(server, 1)
  }),
  ...[302, 307].map((status) =>
    fault(`a ${status} of the token endpoint to another origin`, async ({ server, other, start, fails }) => {
      const [{ pathname }] = [new URL(`${other.url}/api/v2013/authentication/token`)]
      server.always.token = redirects(status, other.url + pathname)
      await fails(start().call('/x'), 'unexpected')
      must(other.seen.token.length === 0, 'sends the password to another origin')
    }),
  ),
  fault('a URL of another origin', async ({ other, start }) => {
    await start()
      .call(`${other.url}/x`)
      .catch(() => {})
    mustKeep(other)
  }),
  fault('a URL of a listed origin', async ({ server, other, start }) => {
    other.always.api = sends(200)
    mustGet(await start({ origins: [other.url] }).call(`${other.url}/x`), 200)
    must(other.seen.api[0]?.authorization !== undefined, 'does not send the token to the listed origin')
    mustSignIn(server, 1)
  }),
  fault('paths that look like another host', async ({ server, other, start }) => {
    const client = start()
    const host = new URL(other.url).host
    for (const path of [`//${host}/x`, `\\\\${host}/x`, `/\\${host}/x`, `@${host}/x`, ` //${host}/x`]) {
      await client.call(path).catch(() => {})
    }
    mustKeep(other)
    must(other.seen.api.length === 0, 'calls another origin')
    mustCall(server, 5)
  }),
]
