import { METHODS } from 'node:http'
import type { ErrorRequestHandler } from 'express'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Answer, FORM_TYPE, GOOD, GOOD_FORM, GOOD_JSON, JSON_TYPE, packageOn, send } from '../../support/host.js'
import { bearer, EXPRESS, listen, TOKEN_PATH } from '../../support/http.js'
import { signParts } from '../../support/tokens.js'
import { anyText } from '../../support/values/any-text.js'

/** A marker in each request, which shows an echo of the request in a response. */
const MARK = 'zebra4711'
const RUNS = { numRuns: 300 }
const oneOf = (words: string) => fc.constantFrom(...words.split(' '))
const joined = (...texts: fc.Arbitrary<string>[]) => fc.tuple(...texts).map((parts) => parts.join(''))
/** Inserts a text in place of one character. */
const spoiled = (good: string, text: fc.Arbitrary<string>) =>
  fc.tuple(fc.nat(good.length), text).map(([at, put]) => good.slice(0, at) + put + good.slice(at + 1))

const someText = anyText()
const json = fc.jsonValue({ maxDepth: 3 })
const latin1 = Array.from({ length: 224 }, (_, i) => String.fromCharCode(i + 32)).join('')
const headerText = fc.string({ unit: fc.constantFrom(...latin1.replace('\x7f', '\t')) })

describe.each(EXPRESS)('nothing that a client sends gets a 5xx, a stack or an echo, on %s', async (_name, express) => {
  const { requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { fastPasswords, forge, goodParts, makeIssuer, makeStore } = fixtures

  /** An app with all of the package in it; what reaches its error handler is a failure. */
  async function start() {
    const failures: unknown[] = []
    const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
    const app = express()
    app.use(tokenRouter({ ...parts, onEvent: (event) => event.type === 'dependency.failed' && failures.push(event) }))
    app.use('/parsed', express.json(), express.urlencoded({ extended: true }), tokenRouter(parts))
    const guard = requireBearer({ tokens: parts.tokens, accounts: parts.accounts, isRevoked: () => false })
    app.all('/guarded', guard, (_req, res) => void res.end('in'))
    app.use((_req, res) => void res.status(404).end())
    app.use(((error, _req, res, _next) => {
      // A host's own parser refuses malformed bodies before the package sees them.
      if (!(error.status < 500)) failures.push(error)
      res.status(error.status ?? 599).end()
    }) satisfies ErrorRequestHandler)
    const { port } = await listen(app)

    /** Expects one of the statuses, unless all below 500 are valid. */
    return async function ask(sent: Parameters<typeof send>[1], expected?: number[]): Promise<Answer> {
      const answer = await send(port, sent)
      const { status, body, rawHeaders } = answer
      expect(failures).toEqual([])
      expect(status).toBeLessThan(500)
      if (expected) expect(expected).toContain(status)
      const all = `${rawHeaders.join('\n')}\n${body}`
      expect(all).not.toContain(MARK)
      expect(all).not.toMatch(/\bat .*:\d+|node_modules|\wError\b|Error:/)
      return answer
    }
  }

  describe('Authorization headers', () => {
    const good = goodParts()
    const token = forge(good.header, good.payload)
    const member = oneOf('alg typ kid crit b64 jku x5c iss aud sub client_id jti iat exp nbf scope')
    const name = fc.oneof(member, someText, oneOf('__proto__ constructor toString hasOwnProperty'))
    const changed = (part: object) =>
      fc.oneof(
        fc.dictionary(name, json, { maxKeys: 4 }).map((change) => ({ ...part, ...change })),
        json,
      )
    const encoded = (text: string) => Buffer.from(text).toString('base64url')
    const segment = fc.oneof(headerText, someText.map(encoded), json.map(JSON.stringify).map(encoded))
    const tokens = fc.oneof(
      fc.tuple(changed(good.header), changed(good.payload)).map(([header, payload]) => forge(header, payload)),
      fc.tuple(segment, segment).map(([header, payload]) => signParts(header, payload)),
      spoiled(token, fc.string({ unit: fc.constantFrom(...latin1.slice(1, 95)), minLength: 1, maxLength: 1 })),
      fc.array(segment, { maxLength: 5 }).map((parts) => parts.join('.')),
    )
    const credentials = fc.oneof(
      headerText,
      joined(oneOf(`Bearer bearer Basic ${MARK}`), fc.constantFrom(' ', '  ', '\t', ',', '='), headerText),
      joined(fc.constant('Bearer '), tokens),
    )

    it('at random', async () => {
      const ask = await start()
      await fc.assert(
        fc.asyncProperty(credentials, fc.boolean(), async (authorization, marked) => {
          // Node accepts 16 kB of headers, and responds to more with its own 431.
          const text = authorization.slice(0, 8000).trim()
          const headers = { Authorization: marked ? `${text}${MARK}` : text }
          await ask({ method: 'GET', path: '/guarded', headers }, [200, 400, 401])
        }),
        RUNS,
      )
    })

    it('a good one is let in (so that the refusals above mean something)', async () => {
      const ask = await start()
      expect(await ask(bearer(token, '/guarded'))).toMatchObject({ status: 200, body: 'in' })
    })
  })

  it.each(['', '/parsed'])('bodies at random, of types at random (below %j)', async (mount) => {
    const ask = await start()
    const known = oneOf('application/json application/x-www-form-urlencoded')
    const type = fc.oneof(
      known,
      fc.constantFrom('application/json; charset=utf-16', 'text/plain', 'multipart/form-data', `application/${MARK}`),
      joined(known, fc.constant(';'), headerText),
      headerText,
    )
    const value = fc.oneof(someText, json, fc.constantFrom(GOOD.email, '__proto__', '\0', '\ud800', MARK))
    const name = fc.oneof(oneOf('email password __proto__ constructor'), someText)
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.record({ email: value, password: value }).map((credentials) => JSON.stringify(credentials)),
      fc.dictionary(name, value).map((members) => JSON.stringify(members)),
      fc.array(fc.tuple(name, someText)).map((fields) => new URLSearchParams(fields).toString()),
      fc.string({ unit: oneOf(`email password = & % %4 %ff %c3%a9 + [ ] . ${MARK} \ufffd`) }),
      json.map((given) => JSON.stringify(given)),
      someText,
      spoiled(GOOD_JSON, someText),
      spoiled(GOOD_FORM, someText),
    )
    const coding = fc.option(oneOf(`identity gzip br deflate ${MARK}`), { freq: 8, nil: undefined })
    await fc.assert(
      fc.asyncProperty(type, body, coding, fc.boolean(), async (contentType, bytes, contentCoding, chunked) => {
        const headers = {
          'Content-Type': contentType.trim(),
          ...(contentCoding && { 'Content-Encoding': contentCoding }),
          ...(chunked && { 'Transfer-Encoding': 'chunked' }),
        }
        await ask({ path: mount + TOKEN_PATH, headers, body: bytes }, [200, 400, 403, 413, 415])
      }),
      RUNS,
    )
  })

  it('methods and paths at random', async () => {
    const ask = await start()
    const pieces = `/ .. . // % %2f %00 %ff %zz ? # ; : @ * \\ ${MARK} é token ${TOKEN_PATH} /guarded access_token= & = [ ]`
    const path = fc.array(oneOf(pieces), { maxLength: 8 }).map((list) => `/${list.join('')}`.replace(/[^!-ÿ]/g, ''))
    const method = fc.constantFrom(...METHODS.filter((known) => known !== 'CONNECT'))
    const body = fc.constantFrom({}, { body: GOOD_JSON }, { body: MARK })
    await fc.assert(
      fc.asyncProperty(method, path, body, fc.boolean(), async (verb, target, content, form) => {
        const headers = { ...(form ? FORM_TYPE : JSON_TYPE), Authorization: `Bearer ${MARK}` }
        await ask({ method: verb, path: target, headers, ...content })
      }),
      RUNS,
    )
  })
})
