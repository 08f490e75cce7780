import { JSON_TYPE } from '../../../support/plain-js/http-client.mjs'
import { load } from '../exhibit.js'

export const BETTER_AUTH = 'better-auth-1.4.4'
const BASE_URL = 'http://localhost/auth'
export const APP_SECRET = 'a secret of the tests, long enough'

type Table = Record<string, unknown>[]

/**
 * Creates an app of an installed version of Better Auth, with tables in memory. `call` sends a request below its base path: a POST
 * of a body, or a GET.
 */
export function betterAuthApp(alias: string, options: object, rows: Record<string, Table> = {}) {
  const { betterAuth } = load(alias)
  const { memoryAdapter } = load(`${alias}/adapters/memory`)
  const user: Table = []
  const tables = { user, session: [], account: [], verification: [], rateLimit: [], twoFactor: [], ...rows }
  const { handler } = betterAuth({
    baseURL: BASE_URL,
    basePath: '/auth',
    secret: APP_SECRET,
    database: memoryAdapter(tables),
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    logger: { disabled: true },
    ...options,
  })
  const call = (path: string, body?: object | string, headers = {}): Promise<Response> => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const sent = text === undefined ? {} : { method: 'POST', body: text }
    return handler(new Request(BASE_URL + path, { ...sent, headers: { ...JSON_TYPE, Origin: BASE_URL, ...headers } }))
  }
  return { call, tables }
}
