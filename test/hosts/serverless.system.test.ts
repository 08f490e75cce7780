import { EventEmitter } from 'node:events'
import codegenie from '@codegenie/serverless-express'
import vendia from '@vendia/serverless-express'
import type { RequestHandler } from 'express'
import httpMocks from 'node-mocks-http'
import serverlessHttp from 'serverless-http'
import { describe, expect, it } from 'vitest'
import { issueNow } from '../support/fixtures.js'
import { packageOn } from '../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../support/http.js'

/** The response of an adapter to API Gateway. */
interface Result {
  statusCode: number
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  body: string
}

type Adapter = (app: RequestHandler) => (event: object, context: object) => Promise<Result>

const ADAPTERS: [string, Adapter][] = [
  ['@codegenie/serverless-express', (app) => codegenie.configure({ app: app as never }) as never],
  ['@vendia/serverless-express', (app) => vendia.configure({ app: app as never }) as never],
  ['serverless-http', (app) => serverlessHttp(app as never) as never],
]

/** An event of an HTTP API (payload format 2.0). */
const event = (method: string, path: string, headers: Record<string, string>, body?: string) => ({
  version: '2.0',
  rawPath: path,
  rawQueryString: '',
  headers: { host: 'api.example.com', ...headers },
  requestContext: { http: { method, path, sourceIp: '192.0.2.1' }, stage: '$default' },
  body,
  isBase64Encoded: false,
})

describe.each(EXPRESS)('on %s', async (_, express) => {
  const { authOf, requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, fastPasswords, makeIssuer, makeStore, PASSWORD } = fixtures
  const tokens = makeIssuer()
  const guard = requireBearer({ tokens })
  const router = tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords() })
  const credentials = (password = PASSWORD) => ({ email: ACCOUNTS.alice.email, password })
  const { token } = issueNow(tokens, { accountId: 'acc-1' })

  describe.each(ADAPTERS)('AWS Lambda with %s', (_name, adapter) => {
    const app = express().use(router)
    app.get('/guarded', guard, (req, res) => void res.json({ account: authOf(req).accountId }))
    const call = (...args: Parameters<typeof event>) => adapter(app as never)(event(...args), {})
    const login = (body: object) =>
      call('POST', TOKEN_PATH, { 'content-type': 'application/json' }, JSON.stringify(body))
    const guarded = (text: string) => call('GET', '/guarded', { authorization: `Bearer ${text}` })

    it('a login returns a token, which opens the guarded route', async () => {
      const { statusCode, body } = await login(credentials())
      expect(statusCode).toBe(200)
      const { authenticationToken } = JSON.parse(body)
      expect(await guarded(authenticationToken)).toMatchObject({ statusCode: 200, body: '{"account":"acc-1"}' })
    })

    it('a wrong password gets 403, a forged token 401, and a long body 413', async () => {
      expect(await login(credentials('wrong'))).toMatchObject({ statusCode: 403, body: '' })
      expect(await guarded(`${token}x`)).toMatchObject({ statusCode: 401 })
      expect(await login({ filler: 'x'.repeat(100_000) })).toMatchObject({ statusCode: 413 })
    })
  })

  describe('node-mocks-http', () => {
    type Handler = (req: never, res: never, next: (error?: unknown) => void) => void

    /** Runs a handler on mocks. Resolves when the response has ended or `next` is called. */
    function run(handler: Handler, request: httpMocks.RequestOptions) {
      const req = httpMocks.createRequest(request)
      const res = httpMocks.createResponse({ eventEmitter: EventEmitter, req })
      return new Promise<{ req: typeof req; res: typeof res; passed: boolean }>((resolve, reject) => {
        res.on('end', () => resolve({ req, res, passed: false }))
        handler(req as never, res as never, (error) => (error ? reject(error) : resolve({ req, res, passed: true })))
      })
    }
    const login = (password?: string) => ({
      method: 'POST' as const,
      url: TOKEN_PATH,
      headers: { 'content-type': 'application/json' },
      body: credentials(password),
    })

    it('the token router answers', async () => {
      const { res } = await run(router as never, login())
      expect(res.statusCode).toBe(200)
      expect(Object.keys(JSON.parse(res._getData()))).toEqual(['authenticationToken', 'expiration'])
      expect((await run(router as never, login('wrong'))).res.statusCode).toBe(403)
    })

    it('the guard admits a valid token and refuses others', async () => {
      const request = (authorization?: string) => ({ url: '/guarded', headers: authorization ? { authorization } : {} })
      const admitted = await run(guard as never, request(`Bearer ${token}`))
      expect(admitted.passed).toBe(true)
      expect(authOf(admitted.req as never).accountId).toBe('acc-1')
      expect((await run(guard as never, request(`Bearer ${token}x`))).res.statusCode).toBe(401)
      expect((await run(guard as never, request())).res.statusCode).toBe(401)
    })
  })
})
