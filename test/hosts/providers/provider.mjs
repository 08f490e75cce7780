import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { start } from '../expect-host.js'

const REDIRECT = 'https://page.example/signed-in'
const CODE_VERIFIER = 'a'.repeat(43)
const CODE_CHALLENGE = 'ZtNPunH49FD35FWYhT5Tv8I7vRKQJ8uxMaL0_9eHjNA'

/** Starts oidc-provider on loopback. Its access tokens for the resource are JWTs. */
export async function startProvider(resource) {
  const server = createServer()
  const issuer = await start(server)
  const provider = new Provider(issuer, {
    clients: [
      { client_id: 'page', client_secret: 'secret', redirect_uris: [REDIRECT], grant_types: ['authorization_code'] },
      {
        client_id: 'agent',
        client_secret: 'secret',
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    cookies: { keys: ['key'] },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: () => ({
          scope: 'reports:read',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
        useGrantedResource: () => true,
      },
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  server.on('request', provider.callback())

  async function getToken(client, body) {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(client).toString('base64')}` },
      body: new URLSearchParams(body),
    })
    return response.json()
  }

  /** Sends a request as a browser does, with its cookies, but follows no redirect. */
  async function browse(url, cookies, body) {
    const headers = { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
    const response = await fetch(url, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) })
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';')[0].split('=')
      cookies.set(name, value)
    }
    return { location: response.headers.get('location'), text: await response.text() }
  }

  return {
    issuer,
    /** Gets a token as a machine. */
    asMachine: () => getToken('agent:secret', { grant_type: 'client_credentials', scope: 'reports:read', resource }),
    /** Signs a user in with the code flow. Returns the access token and the ID token. */
    async asUser(login) {
      const cookies = new Map()
      const query = {
        ...{ client_id: 'page', response_type: 'code', redirect_uri: REDIRECT, scope: 'openid reports:read', resource },
        ...{ code_challenge: CODE_CHALLENGE, code_challenge_method: 'S256' },
      }
      let { location } = await browse(`${issuer}/auth?${new URLSearchParams(query)}`, cookies)
      for (let i = 0; i < 10 && !location.startsWith(REDIRECT); i++) {
        const url = new URL(location, issuer)
        const { text, location: next } = await browse(url, cookies)
        const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1]
        const form = new URLSearchParams({ prompt, login, password: 'x' })
        location = next ?? (await browse(url, cookies, form)).location
      }
      const code = new URL(location).searchParams.get('code')
      const grant = { grant_type: 'authorization_code', redirect_uri: REDIRECT, code_verifier: CODE_VERIFIER }
      return getToken('page:secret', { ...grant, code, resource })
    },
  }
}
