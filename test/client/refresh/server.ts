import { firstState, nextState, type RefreshState } from '../../../src/sessions/refresh/refresh-state.js'
import { TOKEN_PATH } from '../faults/server.js'

export const URL_OF_API = 'https://api.example.com'
/** The time in which a replaced refresh token returns its successor, in milliseconds. */
export const GRACE = 10_000
/** The lifetime of an access token, in milliseconds. */
export const LIFETIME = 600_000

/** The cookies of a browser, which its tabs share. */
export interface Jar {
  refreshToken?: string | undefined
}

/** A request to a route of the token endpoint, or to the API. */
export interface Sent {
  readonly url: string
  readonly route: 'sign-in' | 'step-up' | 'refresh' | 'sign-out' | 'api'
  readonly init: RequestInit
  readonly body: string
}

/** A fault of one request: a response in place of the server's, a lost response, or a lost request. */
export type RefreshFault = Response | 'response lost' | 'request lost' | 'response never comes'

const ROUTES = {
  [URL_OF_API + TOKEN_PATH]: 'sign-in',
  [`${URL_OF_API}${TOKEN_PATH}/confirm`]: 'step-up',
  [`${URL_OF_API}${TOKEN_PATH}/refresh`]: 'refresh',
  [`${URL_OF_API}${TOKEN_PATH}/sign-out`]: 'sign-out',
} as const

/** Creates a server that follows the protocol of refresh tokens, until a test gives it faults. */
export function createRefreshServer() {
  const sessions = new Map<string, RefreshState>()
  const sent: Sent[] = []
  let issued = 0

  const respondWith = (text: string, inBody: boolean) =>
    Response.json({
      authenticationToken: `T${++issued}`,
      expiration: new Date(Date.now() + LIFETIME).toISOString(),
      ...(inBody && { refreshToken: text }),
    })

  /** Moves a session. Returns the text of its current refresh token, or undefined when it is over. */
  function refresh(text: string | undefined): string | undefined {
    const [id = '', generation] = (text ?? '').split('.')
    const state = sessions.get(id)
    if (!state) return undefined
    const next = nextState(state, Number(generation), { now: Date.now(), presentedAt: Date.now(), grace: GRACE })
    if (next) sessions.set(id, next)
    else sessions.delete(id)
    return next && `${id}.${next.generation}`
  }

  function signIn(body: string): string | undefined {
    if (JSON.parse(body).password !== 'secret') return undefined
    const id = `S${sent.length}`
    sessions.set(id, firstState({ remember: true, passwordTag: '' }))
    return `${id}.0`
  }

  /** @param jar the cookies of the browser. Undefined for an app that keeps the refresh token */
  function respond({ route, body }: Sent, jar: Jar | undefined): readonly [Response, (() => void)?] {
    if (route === 'api') return [new Response('{}')]
    // The refresh token stays.
    if (route === 'step-up') return [respondWith('', false)]
    const text = jar ? jar.refreshToken : route === 'sign-in' ? undefined : JSON.parse(body).refreshToken
    if (route === 'sign-out') {
      sessions.delete((text ?? '').split('.')[0] ?? '')
      return [new Response(null, { status: 204 }), () => jar && delete jar.refreshToken]
    }
    if (route === 'refresh' && jar && !text) return [new Response(null, { status: 204 })]
    const next = route === 'refresh' ? refresh(text) : signIn(body)
    const setCookie = () => {
      if (jar) jar.refreshToken = next
    }
    return next ? [respondWith(next, !jar), setCookie] : [new Response(null, { status: 403 }), setCookie]
  }

  const server = {
    sent,
    sessions,
    /** Faults of the next requests of a route, in order. */
    faults: [] as { readonly route: Sent['route']; readonly fault: RefreshFault }[],
    /** Called before the server receives a request. */
    before: (_: Sent): unknown => undefined,
    /** Called before a response arrives. */
    after: (_: Sent): unknown => undefined,
    fail(route: Sent['route'], ...faults: RefreshFault[]) {
      server.faults.push(...faults.map((fault) => ({ route, fault })))
    },
    /** Returns the routes of all requests but those of the API. */
    routes: () => sent.map(({ route }) => route).filter((route) => route !== 'api'),
    /** Returns the `fetch` of a browser, or of an app that has no cookies. */
    fetchOf: (jar?: Jar) =>
      (async (input: string | URL | Request, init: RequestInit = {}) => {
        const url = String(input)
        const one: Sent = {
          url,
          route: ROUTES[url] ?? 'api',
          init,
          body: typeof init.body === 'string' ? init.body : '',
        }
        sent.push(one)
        const aborted = new Promise<never>((_, reject) =>
          init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
        )
        aborted.catch(() => {})
        await Promise.race([server.before(one), aborted])
        const index = server.faults.findIndex(({ route }) => route === one.route)
        const fault = index < 0 ? undefined : server.faults.splice(index, 1)[0]?.fault
        if (fault instanceof Response) return fault
        if (fault === 'request lost') throw new TypeError('fetch failed')
        const [response, arrive] = respond(one, init.credentials === 'omit' ? undefined : jar)
        if (fault === 'response lost') throw new TypeError('fetch failed')
        if (fault) await aborted
        await Promise.race([server.after(one), aborted])
        arrive?.()
        return response
      }) as typeof fetch,
  }
  return server
}

export type RefreshServer = ReturnType<typeof createRefreshServer>
