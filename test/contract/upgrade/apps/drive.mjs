import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** The key of the app, which stays the same when the package is updated. */
export const newKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })

export const ISSUER = 'https://api.example.com'

/** Creates a limiter in memory that has the methods of both releases. */
function limiterOf() {
  const counts = new Map()
  const change = async (key, by) => {
    const consumedPoints = (counts.get(key) ?? 0) + by
    counts.set(key, consumedPoints)
    return { consumedPoints, msBeforeNext: 60_000 }
  }
  return {
    consume: (key) => change(key, 1),
    reward: (key) => change(key, -1),
    get: async (key) => (counts.has(key) ? change(key, 0) : null),
    delete: async (key) => counts.delete(key),
  }
}

/**
 * Sends the requests of the app's clients, and returns what they get.
 * @param {string} [earlier] a token that the other release issued
 */
export async function drive(createApp, privateKey, earlier) {
  const { app, events, selfTest, verifier } = await createApp({ issuer: ISSUER, privateKey, limiter: limiterOf })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${server.address().port}`
  const seen = {}
  const send = async (name, path, { method = 'GET', body, token } = {}) => {
    const headers = {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
    }
    const response = await fetch(origin + path, { method, headers, body: body && JSON.stringify(body) })
    const text = await response.text()
    const json = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
    seen[name] = [
      response.status,
      json?.code ?? json?.ours ?? (json?.token || json?.authenticationToken ? 'token' : json),
    ]
    return json
  }
  const post = (body) => ({ method: 'POST', body })
  const LOGIN = '/api/v2013/authentication/token'
  try {
    const { authenticationToken: token } = await send(
      'login',
      LOGIN,
      post({ email: 'alice@example.com', password: 'correct horse' }),
    )
    await send('profile', '/me', { token })
    await send('reports', '/reports', { token })
    await send('anonymous', '/reports')
    await send('discount', '/prices', { token })
    await send('no discount', '/prices')
    const bob = await send('login of Bob', LOGIN, post({ email: 'bob@example.com', password: 'correct horse' }))
    await send('scope', '/reports', { token: bob.authenticationToken })
    await send('malformed', LOGIN, post({ email: 'alice@example.com' }))
    const exchanged = await send('exchange', '/exchange/acc-2', post({}))
    await send('exchanged', '/me', { token: exchanged.token })
    const viaPassport = await send(
      'Passport',
      '/passport',
      post({ email: 'alice@example.com', password: 'correct horse' }),
    )
    await send('Passport, guarded', '/passport', { token: viaPassport.token })
    await send('unlock', '/unlock', post({}))
    for (const name of ['wrong', 'wrong again', 'limited'])
      await send(name, LOGIN, post({ email: 'alice@example.com', password: 'wrong' }))
    await send('sign-out', '/sign-out', { method: 'POST', token })
    await send('signed out', '/till', { token })
    await send('keys', '/.well-known/jwks.json').then(({ keys }) => {
      seen['keys'] = keys.map(({ alg }) => alg)
    })
    await send('documents', '/openapi.json').then(({ paths }) => {
      seen['documents'] = Object.keys(paths)
    })
    if (earlier) await send('earlier', '/me', { token: earlier })
    seen['verifier'] = (await verifier.verify(token)).accountId
    seen['tests'] = await selfTest()
    seen['events'] = [...new Set(events)].sort()
    return { seen, token: exchanged.token }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
