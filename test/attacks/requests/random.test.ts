import { METHODS } from 'node:http'
import type { ErrorRequestHandler } from 'express'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Answer, FORM_TYPE, GOOD, GOOD_FORM, GOOD_JSON, JSON_TYPE, packageOn, send } from '../../support/host.js'
import { EXPRESS, listen, sendBytes, TOKEN_PATH } from '../../support/http.js'
import { encode, signatureOf, signParts } from '../../support/tokens.js'

/** A marker in each request, which shows an echo of the request in a response. */
const MARK = 'zebra4711'
const RUNS = { numRuns: 300 }

describe.each(EXPRESS)('nothing that a client sends gets a 5xx, a stack or an echo, on %s', async (_name, express) => {
  const { memoryAccounts, requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, countingHasher, fastPasswords, forge, goodParts, ISSUER, makeIssuer, makeStore } = fixtures
  const { PASSWORD } = fixtures

  /** An app with all of the package in it; what reaches its error handler is a failure. */
  async function start(hasher = countingHasher()) {
    const failures: unknown[] = []
    const tokens = makeIssuer()
    const accounts = makeStore()
    const passwords = fastPasswords(hasher)
    const app = express()
    app.use(
      tokenRouter({
        tokens,
        accounts,
        passwords,
        onEvent: (event) => event.type === 'dependency.failed' && failures.push(event),
      }),
    )
    app.use(
      '/parsed',
      express.json(),
      express.urlencoded({ extended: true }),
      tokenRouter({ tokens, accounts, passwords }),
    )
    app.all('/guarded', requireBearer({ tokens, accounts, isRevoked: () => false }), (_req, res) => {
      res.end('in')
    })
    app.use((_req, res) => {
      res.status(404).end()
    })
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      // A host's own parser refuses malformed bodies before the package sees them.
      if (!(error.status < 500)) failures.push(error)
      res.status(error.status ?? 599).end()
    }
    app.use(handler)
    return { port: (await listen(app)).port, failures }
  }

  function expectHarmless({ status, body, rawHeaders }: Answer, failures: unknown[]): void {
    expect(failures).toEqual([])
    expect(status).toBeLessThan(500)
    const all = `${rawHeaders.join('\n')}\n${body}`
    expect(all).not.toContain(MARK)
    expect(all).not.toMatch(/\bat .*:\d+|node_modules|\wError\b|Error:/)
  }

  const latin1 = fc.string({
    unit: fc.constantFrom(...Array.from({ length: 224 }, (_, i) => String.fromCharCode(i + 32))),
  })
  const headerText = latin1.map((text) => text.replaceAll('\x7f', '\t'))
  const anyText = fc.string({ unit: 'binary' })
  const json = fc.jsonValue({ maxDepth: 3 })
  const segment = fc.oneof(
    headerText,
    anyText.map((text) => Buffer.from(text).toString('base64url')),
    json.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
  )

  describe('Authorization headers', () => {
    const good = goodParts()
    const member = fc.constantFrom(
      'alg',
      'typ',
      'kid',
      'crit',
      'b64',
      'jku',
      'x5c',
      'iss',
      'aud',
      'sub',
      'client_id',
      'jti',
      'iat',
      'exp',
      'nbf',
      'scope',
    )
    const name = fc.oneof(member, anyText, fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty'))
    const members = fc.dictionary(name, json, { maxKeys: 4 })
    const signed = fc
      .tuple(
        fc.oneof(
          members.map((change) => ({ ...good.header, ...change })),
          json,
        ),
        fc.oneof(
          members.map((change) => ({ ...good.payload, ...change })),
          json,
        ),
      )
      .map(([header, payload]) => forge(header, payload))
    const signedText = fc.tuple(segment, segment).map(([header, payload]) => signParts(header, payload))
    const spoiled = fc.tuple(fc.nat(), fc.integer({ min: 33, max: 126 })).map(([at, code]) => {
      const token = forge(good.header, good.payload)
      const i = at % token.length
      return token.slice(0, i) + String.fromCharCode(code) + token.slice(i + 1)
    })
    const credentials = fc.oneof(
      headerText,
      fc
        .tuple(
          fc.constantFrom('Bearer', 'bearer', 'Basic', MARK),
          fc.constantFrom(' ', '  ', '\t', ',', '='),
          headerText,
        )
        .map((parts) => parts.join('')),
      fc
        .oneof(
          signed,
          signedText,
          spoiled,
          fc.array(segment, { maxLength: 5 }).map((parts) => parts.join('.')),
        )
        .map((token) => `Bearer ${token}`),
    )

    it('at random', async () => {
      const { port, failures } = await start()
      await fc.assert(
        fc.asyncProperty(credentials, fc.boolean(), async (authorization, marked) => {
          // Node accepts 16 kB of headers, and responds to more with its own 431.
          const text = authorization.slice(0, 8000).trim()
          const headers = { Authorization: marked ? `${text}${MARK}` : text }
          const answer = await send(port, { method: 'GET', path: '/guarded', headers })
          expectHarmless(answer, failures)
          if (answer.status !== 200) expect([400, 401]).toContain(answer.status)
        }),
        RUNS,
      )
    })

    it('a good one is let in (so that the refusals above mean something)', async () => {
      const { port, failures } = await start()
      const headers = { Authorization: `Bearer ${forge(good.header, good.payload)}` }
      const answer = await send(port, { method: 'GET', path: '/guarded', headers })
      expectHarmless(answer, failures)
      expect(answer).toMatchObject({ status: 200, body: 'in' })
    })
  })

  it.each(['', '/parsed'])('bodies at random, of types at random (below %j)', async (mount) => {
    const { port, failures } = await start()
    const type = fc.oneof(
      fc.constantFrom('application/json', 'application/x-www-form-urlencoded'),
      fc.constantFrom('application/json; charset=utf-16', 'text/plain', 'multipart/form-data', `application/${MARK}`),
      fc
        .tuple(fc.constantFrom('application/json', 'application/x-www-form-urlencoded'), headerText)
        .map((parts) => parts.join(';')),
      headerText,
    )
    const value = fc.oneof(anyText, json, fc.constantFrom(GOOD.email, '__proto__', '\0', '\ud800', MARK))
    const name = fc.oneof(fc.constantFrom('email', 'password', '__proto__', 'constructor'), anyText)
    const formText = fc.string({
      unit: fc.constantFrom(
        'email',
        'password',
        '=',
        '&',
        '%',
        '%4',
        '%ff',
        '%c3%a9',
        '+',
        '[',
        ']',
        '.',
        MARK,
        '\ufffd',
      ),
    })
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.record({ email: value, password: value }).map((credentials) => JSON.stringify(credentials)),
      fc.dictionary(name, value).map((members) => JSON.stringify(members)),
      fc.array(fc.tuple(name, anyText)).map((fields) => new URLSearchParams(fields).toString()),
      formText,
      json.map((given) => JSON.stringify(given)),
      anyText,
      fc
        .tuple(fc.nat(GOOD_JSON.length), anyText)
        .map(([at, text]) => GOOD_JSON.slice(0, at) + text + GOOD_JSON.slice(at + 1)),
      fc
        .tuple(fc.nat(GOOD_FORM.length), anyText)
        .map(([at, text]) => GOOD_FORM.slice(0, at) + text + GOOD_FORM.slice(at + 1)),
    )
    const coding = fc.option(fc.constantFrom('identity', 'gzip', 'br', 'deflate', MARK), { freq: 8, nil: undefined })
    await fc.assert(
      fc.asyncProperty(type, body, coding, fc.boolean(), async (contentType, bytes, contentCoding, chunked) => {
        const headers = {
          'Content-Type': contentType.trim(),
          ...(contentCoding && { 'Content-Encoding': contentCoding }),
          ...(chunked && { 'Transfer-Encoding': 'chunked' }),
        }
        const answer = await send(port, { path: mount + TOKEN_PATH, headers, body: bytes })
        expectHarmless(answer, failures)
        if (answer.status !== 200) expect([400, 403, 413, 415]).toContain(answer.status)
      }),
      RUNS,
    )
  })

  it('methods and paths at random', async () => {
    const { port, failures } = await start()
    const piece = fc.constantFrom(
      '/',
      '..',
      '.',
      '//',
      '%',
      '%2f',
      '%00',
      '%ff',
      '%zz',
      '?',
      '#',
      ';',
      ':',
      '@',
      '*',
      '\\',
      MARK,
      'é',
      'token',
      TOKEN_PATH,
      '/guarded',
      'access_token=',
      '&',
      '=',
      '[',
      ']',
    )
    const path = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`.replace(/[^\x21-\xff]/g, ''))
    const method = fc.constantFrom(...METHODS.filter((known) => known !== 'CONNECT'))
    const body = fc.constantFrom(undefined, GOOD_JSON, MARK)
    await fc.assert(
      fc.asyncProperty(method, path, body, fc.boolean(), async (verb, target, content, form) => {
        const headers = { ...(form ? FORM_TYPE : JSON_TYPE), Authorization: `Bearer ${MARK}` }
        const answer = await send(port, {
          method: verb,
          path: target,
          headers,
          ...(content !== undefined && { body: content }),
        })
        expectHarmless(answer, failures)
      }),
      RUNS,
    )
  })

  describe('refused logins cannot be told apart', () => {
    const unknown = 'nobody@example.com'
    const cases = [
      ['unknown e-mail', unknown, PASSWORD],
      ['unknown e-mail, empty password', unknown, ''],
      ['empty e-mail', '', PASSWORD],
      ['an e-mail with a NUL', `${ACCOUNTS.alice.email}\0`, PASSWORD],
      ['wrong password', ACCOUNTS.alice.email, 'wrong'],
      ['empty password', ACCOUNTS.alice.email, ''],
      ['a very long password', ACCOUNTS.alice.email, 'x'.repeat(5000)],
      ['disabled account', ACCOUNTS.disabled.email, PASSWORD],
      ['disabled account, wrong password', ACCOUNTS.disabled.email, 'wrong'],
      ['account without a password', ACCOUNTS.passwordless.email, PASSWORD],
      ['account without a password, empty password', ACCOUNTS.passwordless.email, ''],
    ] as const
    const bytesFor = (type: string, body: string) =>
      `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    const asJsonBytes = (email: string, password: string) =>
      bytesFor(JSON_TYPE['Content-Type'], JSON.stringify({ email, password }))
    const asFormBytes = (email: string, password: string) =>
      bytesFor(FORM_TYPE['Content-Type'], new URLSearchParams({ email, password }).toString())

    it('the same answer, to the byte', async () => {
      const { port } = await start()
      const answers = new Set<string>()
      for (const [, email, password] of cases) {
        for (const bytes of [asJsonBytes(email, password), asFormBytes(email, password)]) {
          const answer = await sendBytes(port, bytes)
          expect(answer).toMatch(/\r\nDate: [^\r]+\r\n/)
          answers.add(answer.replace(/\r\nDate: [^\r]+/, ''))
        }
      }
      expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 403 Forbidden\r\n(.+\r\n)+\r\n$/)])
    })

    it.each(cases)('one password verification, no less and no more: %s', async (_what, email, password) => {
      const hasher = countingHasher()
      const { port } = await start(hasher)
      expect(await sendBytes(port, asJsonBytes(email, password))).toMatch(/^HTTP\/1\.1 403 /)
      expect(hasher.asked).toHaveLength(1)
      expect(await sendBytes(port, asFormBytes(email, password))).toMatch(/^HTTP\/1\.1 403 /)
      expect(hasher.asked).toHaveLength(2)
    })

    it('one password verification for a good login, too', async () => {
      const hasher = countingHasher()
      const { port } = await start(hasher)
      expect(await sendBytes(port, asJsonBytes(GOOD.email, GOOD.password))).toMatch(/^HTTP\/1\.1 200 /)
      expect(hasher.asked).toEqual([ACCOUNTS.alice.passwordHash])
    })

    it('no account at all makes no difference', async () => {
      const hasher = countingHasher()
      const app = express().use(
        tokenRouter({ tokens: makeIssuer(), accounts: memoryAccounts([]), passwords: fastPasswords(hasher) }),
      )
      const { port } = await listen(app)
      const known = await sendBytes((await start()).port, asJsonBytes(GOOD.email, 'wrong'))
      const answer = await sendBytes(port, asJsonBytes(GOOD.email, 'wrong'))
      expect(answer.replace(/\r\nDate: [^\r]+/, '')).toBe(known.replace(/\r\nDate: [^\r]+/, ''))
      expect(hasher.asked).toHaveLength(1)
    })
  })

  describe('tokens made by hand are refused with 401 invalid_token', () => {
    const { header, payload } = goodParts()
    const [h, p] = forge(header, payload).split('.') as [string, string]

    it.each<[string, string]>([
      ['exp a million years ahead, as 1e308', forge(header, { ...payload, exp: 1e308 })],
      ['exp as text', forge(header, { ...payload, exp: String(payload['exp']) })],
      ['exp before iat', forge(header, { ...payload, exp: (payload['iat'] as number) - 1 })],
      ['iss with a slash behind', forge(header, { ...payload, iss: `${ISSUER}/` })],
      ['iss of another case', forge(header, { ...payload, iss: ISSUER.toUpperCase() })],
      ['aud as a list', forge(header, { ...payload, aud: [ISSUER] })],
      ['sub as a number', forge(header, { ...payload, sub: 1 })],
      ['typ of another case', forge({ ...header, typ: 'AT+JWT' }, payload)],
      ['typ with application/', forge({ ...header, typ: 'application/at+jwt' }, payload)],
      ['kid as a list', forge({ ...header, kid: ['k1'] }, payload)],
      ['kid as a path', forge({ ...header, kid: '../../dev/null' }, payload, '')],
      ['kid __proto__', forge({ ...header, kid: '__proto__' }, payload)],
      ['alg none, without a signature', `${encode('{"alg":"none","typ":"at+jwt","kid":"k1"}')}.${p}.`],
      ['alg of another case', forge({ ...header, alg: 'hs256' }, payload)],
      ['alg RS256 with an HMAC', forge({ ...header, alg: 'RS256' }, payload)],
      ['crit of an extension', forge({ ...header, crit: ['b64'], b64: false }, payload)],
      ['crit null', forge({ ...header, crit: null }, payload)],
      ['an empty signature', `${h}.${p}.`],
      ['no signature', `${h}.${p}`],
      ['a signature of another token', `${h}.${p}.${encode(signatureOf('x.y'))}`],
      ['a signature with padding', `${signParts(h, p)}=`],
      ['base64 in place of base64url', `${signParts(h, p).slice(0, -1)}+`],
      ['a payload with its last bits set', signParts(h, `${encode('{"a":1} ').slice(0, -1)}h`)],
      ['a payload that is no UTF-8', signParts(h, Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url'))],
      ['a payload that is text', forge(header, 'hello')],
      ['a payload that is a number', forge(header, '1')],
      ['a payload that is null', forge(header, 'null')],
      ['a payload that is a list', forge(header, [payload])],
      ['a payload that is cut short', forge(header, '{"iss":')],
      ['a payload of many brackets', forge(header, '['.repeat(3000))],
      ['a header that is text', forge('hello', payload)],
      ['a header that is null', forge('null', payload)],
      ['a header that is a list', forge([header], payload)],
      ['a header of nothing', signParts('', p)],
      ['a payload of nothing', signParts(h, '')],
      ['an encrypted token’s five parts', `${h}.${p}.${p}.${p}.${p}`],
      ['dots', '....'],
      [
        'JSON serialization',
        encode(JSON.stringify({ protected: h, payload: p, signature: encode(signatureOf(`${h}.${p}`)) })),
      ],
      ['the secret itself', 'test-secret-test-secret-test-secret'],
    ])('%s', async (_what, token) => {
      const { port, failures } = await start()
      const answer = await send(port, {
        method: 'GET',
        path: '/guarded',
        headers: { Authorization: `Bearer ${token}` },
      })
      expectHarmless(answer, failures)
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toContain('error="invalid_token"')
      expect(JSON.parse(answer.body).code).toBe('invalid_token')
    })
  })
})
