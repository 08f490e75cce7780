import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAuth } from '../../support/auth-app.js'
import { complaintsOf } from '../../support/documents/lint.js'
import { PASSWORD, signingKey } from '../../support/fixtures.js'
import { asJson, GOOD, GOOD_FORM, send } from '../../support/host.js'
import { TOKEN_PATH } from '../../support/http.js'
import { NO_HOSTS } from '../kit.js'

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const form = (members) => ({ headers: FORM, body: new URLSearchParams(members).toString() })
const SAME_ORIGIN = { 'Sec-Fetch-Site': 'same-origin' }
const byHeader = (req) => (req.headers['x-client'] === 'app' ? 'body' : 'cookie')

/** The modes of refresh, each with the ways in which its clients keep the refresh token. */
const MODES = [
  ['without refresh', undefined, []],
  ['cookie', 'cookie', ['cookie']],
  ['body', 'body', ['body']],
  ['a function', byHeader, ['body', 'cookie']],
]

/** Starts an app in a mode, and returns it with its document. */
async function start(refresh) {
  const { auth, port } = await startAuth({ keys: signingKey('ES256'), ...(refresh && { refresh }) })
  const document = openApiDocument({
    ...auth.openApi,
    servers: `http://127.0.0.1:${port}`,
    paths: {
      '/recent': {
        get: guardedOperation({
          operationId: 'recent',
          summary: 'Recent',
          description: 'A guarded route.',
          tags: ['Own'],
          responses: { 200: { description: 'Fine.', content: { 'application/json': { schema: { type: 'string' } } } } },
        }),
      },
    },
  })
  document.tags.push({ name: 'Own', description: 'Our own.' })
  Object.assign(document.info, {
    description: 'The API.',
    license: { name: 'MIT', identifier: 'MIT' },
    contact: { name: 'We', url: 'https://example.com', email: 'we@example.com' },
  })
  return { port, document: JSON.parse(JSON.stringify(document)) }
}

/** Returns the complaints of Spectral with the rules that it recommends. */
async function spectral(document) {
  const [{ default: core }, { default: rulesets }] = await Promise.all([
    import('@stoplight/spectral-core'),
    import('@stoplight/spectral-rulesets'),
  ])
  const linter = new core.Spectral()
  linter.setRuleset({ extends: [rulesets.oas] })
  const results = await linter.run(document)
  return results.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
}

/** Starts Prism in front of an app. Returns a function that sends a request through it, and its complaints. */
async function prism({ port, document }) {
  const [{ createServer }, { default: http }] = await Promise.all([
    import('@stoplight/prism-http-server'),
    import('@stoplight/prism-http'),
  ])
  const quiet = () => {}
  const logger = { info: quiet, success: quiet, error: quiet, warn: quiet, debug: quiet, child: () => logger }
  const config = {
    isProxy: true,
    upstream: new URL(`http://127.0.0.1:${port}`),
    checkSecurity: true,
    validateRequest: true,
    validateResponse: true,
    mock: false,
    errors: false,
    upstreamProxy: undefined,
  }
  const server = createServer(await http.getHttpOperationsFromSpec(document), {
    components: { logger },
    cors: false,
    config,
  })
  const url = await server.listen(0, '127.0.0.1')
  onTestFinished(() => server.close())
  const complaints = []
  async function ask(path, sent, status) {
    const answer = await send(Number(new URL(url).port), { method: 'POST', path, ...sent })
    const what = `${path} ${answer.status}`
    expect(answer.status, `${what} ${answer.body}`).toBe(status)
    complaints.push(
      ...JSON.parse(answer.headers['sl-violations'] ?? '[]').map((one) => `${what}: ${JSON.stringify(one)}`),
    )
    return answer
  }
  return { ask, complaints }
}

/** Sends the requests of a client, right and refused ones. */
async function useApi(ask, kept) {
  const refreshPath = `${TOKEN_PATH}/refresh`
  const signOutPath = `${TOKEN_PATH}/sign-out`
  const client = kept === 'body' ? { 'X-Client': 'app' } : SAME_ORIGIN
  const sentAs = (sent, headers = {}) => ({ ...sent, headers: { ...client, ...sent.headers, ...headers } })

  const { body, headers } = await ask(TOKEN_PATH, sentAs(asJson(GOOD)), 200)
  await ask(TOKEN_PATH, sentAs({ headers: FORM, body: GOOD_FORM }), 200)
  await ask(TOKEN_PATH, sentAs(asJson({ ...GOOD, password: 'wrong' })), 403)
  const { authenticationToken, refreshToken } = JSON.parse(body)
  const bearer = { headers: { Authorization: `Bearer ${authenticationToken}` } }
  await ask('/recent', { method: 'GET', ...bearer }, 200)
  await ask('/sessions', { method: 'GET', ...bearer }, 200)
  await ask('/recent', { method: 'GET', headers: { Authorization: 'Bearer x' } }, 401)
  await ask('/.well-known/jwks.json', { method: 'GET' }, 200)
  if (kept === 'body') {
    const next = JSON.parse((await ask(refreshPath, sentAs(asJson({ refreshToken })), 200)).body)
    const last = JSON.parse((await ask(refreshPath, sentAs(form({ refreshToken: next.refreshToken })), 200)).body)
    await ask(refreshPath, sentAs(asJson({ refreshToken: 'x' })), 403)
    await ask(signOutPath, sentAs(form({ refreshToken: last.refreshToken })), 204)
  } else if (kept === 'cookie') {
    const cookie = String(headers['set-cookie']).replace(/;.*/, '')
    const next = await ask(refreshPath, sentAs({}, { Cookie: cookie }), 200)
    await ask(refreshPath, sentAs({}, { Cookie: `${cookie.split('=')[0]}=x` }), 403)
    await ask(refreshPath, sentAs({}, { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }), 403)
    await ask(signOutPath, sentAs({}, { Cookie: String(next.headers['set-cookie']).replace(/;.*/, '') }), 204)
  }
}

describe.skipIf(NO_HOSTS)('the OpenAPI document', () => {
  it.each(MODES)('%s: Spectral and Redocly find nothing', async (_, refresh) => {
    const { document } = await start(refresh)
    expect(await spectral(document)).toEqual([])
    expect(await complaintsOf(document)).toEqual([])
  })

  it.each(MODES)('%s: Prism finds nothing in front of the app', async (_, refresh, ways) => {
    const { ask, complaints } = await prism(await start(refresh))
    for (const kept of ways.length > 0 ? ways : [undefined]) await useApi(ask, kept)
    expect(complaints).toEqual([])
  })

  it('Prism finds a request and a response that the document does not have', async () => {
    const app = await start('body')
    delete app.document.components.schemas.TokenResult.properties.refreshToken
    const { ask, complaints } = await prism(app)
    await ask(TOKEN_PATH, asJson({ email: GOOD.email, password: PASSWORD }), 200)
    await ask(`${TOKEN_PATH}/refresh`, asJson({ refresh: 'x' }), 400)
    expect(complaints.join()).toMatch(/200.*response.*400.*request/s)
  })
})
