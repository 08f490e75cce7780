import { connect } from 'node:net'
import { Readable } from 'node:stream'
import express from 'express'
import { type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type BodyRequest, createBodyReader, MOST_SIGNS } from '../../../src/http/body.js'
import { credentialsIn } from '../../../src/login/read-credentials.js'
import { until } from '../../support/concurrency.js'
import { refusalOf, thrownBy } from '../../support/failures.js'
import { fastPasswords, makeIssuer, makeStore } from '../../support/fixtures.js'
import {
  asForm,
  asJson,
  eavesdropper,
  expectBadRequest,
  expectForbidden,
  expectToken,
  expectTooLarge,
  expectUnsupported,
  FORM_TYPE,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  type Sent,
  send,
  sendEndlessly,
} from '../../support/host.js'
import { listen, sendBytes, TOKEN_PATH } from '../../support/http.js'

const router = (options: Partial<TokenRouterOptions> = {}) =>
  tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), ...options })

async function start(options?: Partial<TokenRouterOptions>): Promise<number> {
  return (await listen(express().use(router(options)))).port
}

const typed = (type: string, body: string | Uint8Array = GOOD_JSON): Sent => ({
  headers: { 'Content-Type': type },
  body,
})
const json = (body: string | Uint8Array) => typed('application/json', body)
/** Fields of a form, after others. */
const fields = (count: number) => Array.from({ length: count }, (_, i) => `&f${i}=`).join('')
const coded = (coding: string): Sent => ({ headers: { ...JSON_TYPE, 'Content-Encoding': coding }, body: GOOD_JSON })

it('is read whole, whoever listens to it besides, though the call waits for its turn', async () => {
  const { overhear, heard } = eavesdropper()
  const { port } = await listen(express().use(overhear, router()))
  expectToken(await send(port, asJson(GOOD)))
  expect(heard()).toBe(GOOD_JSON.length)
})

describe('a login is accepted', () => {
  it.each<[string, Sent]>([
    ['JSON', asJson(GOOD)],
    ['JSON with white space', json(` \r\n\t${GOOD_JSON}\n`)],
    ['JSON with escapes', json(GOOD_JSON.replace('@', '\\u0040'))],
    ['JSON with a byte order mark', json(`\ufeff${GOOD_JSON}`)],
    ['JSON with further members', asJson({ ...GOOD, realm: 'x', scope: ['admin'], remember: { me: true } })],
    ['JSON with a __proto__ member', json(GOOD_JSON.replace('{', '{"__proto__":{"a":1},'))],
    ['a form', asForm(GOOD_FORM)],
    ['a form with further fields', asForm(`realm=x&${GOOD_FORM}&a=1&b=`)],
    ['a form with %20 for a space', asForm(GOOD_FORM.replaceAll('+', '%20'))],
    ['a form with percent-encoded names', asForm(GOOD_FORM.replace('email', '%65mail'))],
    ['a form with lower-case hexadecimal', asForm(`${GOOD_FORM}&x=%c3%a9`)],
    ['a form with @ as it is', asForm(GOOD_FORM.replace('%40', '@'))],
    ['a form with empty pairs', asForm(`&&${GOOD_FORM}&`)],
    ['a form with an empty name beside an empty pair', asForm(`=x&${GOOD_FORM}&`)],
    ['a form with a __proto__ field', asForm(`__proto__=x&${GOOD_FORM}`)],
    ['a form with 100 fields', asForm(`${GOOD_FORM}${fields(98)}`)],
    ['JSON with 400 colons, commas and brackets', asJson({ ...GOOD, list: Array(392).fill(0) })],
    ['JSON with many signs in a string', asJson({ ...GOOD, text: '{[:,]}'.repeat(1000) })],
    ['JSON with many signs after an escaped quote', asJson({ ...GOOD, text: `\\" \\\\${'{[:,]}'.repeat(1000)}` })],
    ['JSON with a member twice, of which the last counts', json(GOOD_JSON.replace('{', '{"email":"x",'))],
  ])('%s', async (_what, sent) => {
    expectToken(await send(await start(), sent))
  })

  it.each([
    ...['application/json', 'Application/JSON', 'application/json;charset=utf-8', 'application/json; charset=UTF-8'],
    ...['application/json; charset="utf-8"', 'application/json ;  charset=utf-8 ', 'application/json;'],
    ...['application/json; profile="https://example.com/x;y"', 'application/json; profile=x; charset=utf-8'],
    ...[
      'application/json; profile="a\\"; charset=utf-16"',
      'application/json; charset',
      'application/json; x="; charset=x',
    ],
    ...['application/json; charset = "utf-8"', 'application/json; charset=utf-8; charset=utf-16'],
    ...['application/x-www-form-urlencoded; charset=utf-8', 'APPLICATION/X-WWW-FORM-URLENCODED'],
  ])('Content-Type: %s', async (type) => {
    expectToken(await send(await start(), typed(type, /json/i.test(type) ? GOOD_JSON : GOOD_FORM)))
  })

  it.each(['identity', 'Identity'])('Content-Encoding: %s', async (coding) => {
    expectToken(await send(await start(), coded(coding)))
  })

  it.each([
    ['=', 'email=a=b&password=c==', 'a=b'],
    ['+ and %2B', 'email=a+b%2Bc&password=x', 'a b+c'],
    ['%26 and %3D', 'email=a%26b%3Dc&password=x', 'a&b=c'],
    ['a byte order mark, percent-encoded', 'email=%EF%BB%BFa&password=x', '\ufeffa'],
    ['nothing', 'email&password=', ''],
  ])('a form whose values have %s in them', async (_what, body, email) => {
    const accounts = vi.fn((_email: string) => null)
    expectForbidden(await send(await start({ accounts }), asForm(body)))
    expect(accounts.mock.calls).toEqual([[email, expect.anything()]])
  })

  it('a body in chunks, of which one ends within a character', async () => {
    const accounts = vi.fn((_email: string) => null)
    const bytes = Buffer.from(JSON.stringify({ ...GOOD, email: 'é' }))
    const cut = bytes.indexOf(0xc3) + 1
    const chunk = (part: Uint8Array) => [`${part.length.toString(16)}\r\n`, part, '\r\n']
    const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n`
    const all = [head, 'Transfer-Encoding: chunked\r\n\r\n', ...chunk(bytes.subarray(0, cut))]
    const message = [...all, ...chunk(bytes.subarray(cut)), '0\r\n\r\n'].map((part) => Buffer.from(part))
    expect(await sendBytes(await start({ accounts }), Buffer.concat(message))).toMatch(/^HTTP\/1\.1 403 /)
    expect(accounts.mock.calls).toEqual([['é', expect.anything()]])
  })
})

describe('a body without credentials gets 400', () => {
  const asText = (value: unknown): [string, string] => [JSON.stringify(value), JSON.stringify(value)]
  const bytes = (prefix: string, ...rest: number[]) => Buffer.concat([Buffer.from(prefix), Buffer.from(rest)])

  it.each<[string, string]>([
    ['nothing', ''],
    ['white space', '  '],
    ['in __proto__', `{"__proto__":${GOOD_JSON}}`],
    ['in constructor.prototype', `{"constructor":{"prototype":${GOOD_JSON}}}`],
    ['a lone surrogate in the e-mail', '{"email":"\\ud800","password":"x"}'],
    ['a lone surrogate in the password', '{"email":"x","password":"a\\udc00b"}'],
    ['swapped surrogates', '{"email":"x","password":"\\udc00\\ud800"}'],
    ...[{}, null, 'email', 1, true, [GOOD], [GOOD.email, GOOD.password], { user: GOOD }].map(asText),
    ...[{ password: 'x' }, { email: 'x' }, { Email: 'x', Password: 'y' }, { username: 'x', password: 'y' }].map(asText),
    ...[null, 0, 1, true, false, [], ['x'], {}, { toString: 'x' }].flatMap((value) =>
      [
        { ...GOOD, email: value },
        { ...GOOD, password: value },
      ].map(asText),
    ),
  ])('JSON: %s', async (_what, body) => {
    expectBadRequest(await send(await start(), json(body)))
  })

  it.each<[string, string | Uint8Array]>([
    ['cut short', GOOD_JSON.slice(0, -1)],
    ['cut short in a long string', `{"email":"${'x'.repeat(1000)}`],
    ['two values', `${GOOD_JSON}${GOOD_JSON}`],
    ['a comma at the end', GOOD_JSON.replace('}', ',}')],
    ['single quotes', GOOD_JSON.replaceAll('"', "'")],
    ['names without quotes', `{email:"x",password:"y"}`],
    ['a comment', `/* */${GOOD_JSON}`],
    ['a line break in a string', GOOD_JSON.replace('correct', 'corr\nect')],
    ['NaN', '{"email":NaN,"password":"x"}'],
    ['deeply nested', '['.repeat(10_000)],
    ['with more than 400 colons, commas and brackets', JSON.stringify({ ...GOOD, list: Array(393).fill(0) })],
    ['a form', GOOD_FORM],
    ['UTF-8 cut short', bytes('{"email":"x","password":"', 0xc3)],
    ['UTF-8 with a stray byte', bytes('{"email":"', 0xff, 0x22, 0x2c)],
    ['an overlong "/"', Buffer.concat([bytes('{"email":"', 0xc0, 0xaf), Buffer.from('","password":"x"}')])],
    ['a surrogate in UTF-8', Buffer.concat([bytes('{"email":"', 0xed, 0xa0, 0x80), Buffer.from('","password":"x"}')])],
    ['Latin-1', Buffer.from('{"email":"é","password":"x"}', 'latin1')],
    ['UTF-16', Buffer.from(GOOD_JSON, 'utf16le')],
  ])('malformed JSON: %s', async (_what, body) => {
    expectBadRequest(await send(await start(), json(body)))
  })

  it.each<[string, string | Uint8Array]>([
    ['a semicolon between', 'email=x;password=y'],
    ['names with brackets', 'user[email]=x&user[password]=y'],
    ['a repeated e-mail', `${GOOD_FORM}&email=x`],
    ['a repeated empty name', `=x&${GOOD_FORM}&=y`],
    ['a repeated password', `${GOOD_FORM}&password=x`],
    ['a repeated password of the same value', `${GOOD_FORM}&${GOOD_FORM.split('&')[1]}`],
    ['a repeated password, once percent-encoded', `${GOOD_FORM}&p%61ssword=x`],
    ['a repeated password, first without a value', `password&${GOOD_FORM}`],
    ['% and no digits in a name', `${GOOD_FORM}&%zz=1`],
    ['101 fields', `${GOOD_FORM}${fields(99)}`],
    ['101 fields, most of them empty', `${GOOD_FORM}${'&'.repeat(99)}`],
    ['bytes that are not UTF-8', bytes('email=x&password=', 0xff)],
    ['JSON', GOOD_JSON],
    ['in __proto__', '__proto__[email]=x&__proto__[password]=y'],
    ...['', 'password=x', 'email=x', 'Email=x&Password=y', 'email[]=x&password=y'].map((text): [string, string] => [
      text,
      text,
    ]),
    // Escapes that are cut short, no UTF-8, surrogates and overlong forms.
    ...'100% %4 %zz %ff %c3 %ed%a0%80 %c0%af'
      .split(' ')
      .map((text): [string, string] => [text, `email=x&password=${text}`]),
  ])('form: %s', async (_what, body) => {
    expectBadRequest(await send(await start(), { headers: FORM_TYPE, body }))
  })
})

describe('a body in another encoding gets 415', () => {
  it.each([
    ...'text/plain text/json application/x-json application/problem+json application/jsonp application/*'.split(' '),
    ...'application/json-seq */* json application/xml application/octet-stream application / toString'.split(' '),
    ...['\xa0application/json', 'application/json\xa0', 'application/json;charset=utf-8\xa0'],
    ...'constructor __proto__ application/json,application/json ;charset=utf-8 multipart/form-data;boundary=x'.split(
      ' ',
    ),
  ])('Content-Type: %s', async (type) => {
    expectUnsupported(await send(await start(), typed(type)))
  })

  it.each([
    ['application/json', 'text/plain'],
    ['text/plain', 'application/json'],
    ['application/json', 'application/json'],
  ])('two Content-Type header lines: %s and %s', async (...types) => {
    expectUnsupported(await send(await start(), { headers: { 'Content-Type': types }, body: GOOD_JSON }))
  })

  it.each(['iso-8859-1', 'x charset=utf-8', 'utf-16', 'us-ascii', 'utf-7', '"utf-16"', 'x', '__proto__'])(
    'charset=%s',
    async (charset) => {
      for (const type of ['application/json', 'application/x-www-form-urlencoded'])
        expectUnsupported(await send(await start(), typed(`${type}; charset=${charset}`, GOOD_FORM)))
    },
  )

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x', 'gzip, identity', 'identity, gzip'])(
    'Content-Encoding: %s',
    async (coding) => {
      expectUnsupported(await send(await start(), coded(coding)))
    },
  )
})

describe('a body that is too large gets 413', () => {
  it('by its Content-Length, before any of it was sent', async () => {
    const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
    expect(await sendBytes(await start(), `${head}Content-Length: 10241\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('is none that is just as long as the limit, whoever reads it', async () => {
    const bodyLimit = Buffer.byteLength(GOOD_JSON)
    const port = await start({ bodyLimit })
    const chunked = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }
    for (const headers of [JSON_TYPE, chunked]) {
      expectToken(await send(port, { headers, body: GOOD_JSON }))
      expectTooLarge(await send(port, { headers, body: `${GOOD_JSON} ` }))
    }
  })

  it('after the first bytes above the limit, although the client sends nothing more', async () => {
    const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
    const bytes = `${head}Transfer-Encoding: chunked\r\n\r\n2801\r\n${'x'.repeat(10_241)}\r\n`
    expect(await sendBytes(await start(), bytes)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('counts bytes, not characters', async () => {
    const port = await start({ bodyLimit: 100 })
    const body = (password: string) => ({ headers: JSON_TYPE, body: JSON.stringify({ email: 'x', password }) })
    const room = 100 - (body('').body.length as number)
    expectForbidden(await send(port, body('é'.repeat(room / 2))))
    expectTooLarge(await send(port, body('é'.repeat(room / 2 + 1))))
  })
})

describe('a client that goes on sending gets its answer, and is cut off', () => {
  const CHUNK = `${(16_384).toString(16)}\r\n${'x'.repeat(16_384)}\r\n`
  const head = (method: string, ...headers: string[]) =>
    [`${method} ${TOKEN_PATH} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n')
  const CHUNKED = 'Transfer-Encoding: chunked'
  const JSON_LINE = 'Content-Type: application/json'
  /** Disables the time limit for a silent client, so that only the size limit closes the connection. */
  const stopTimers = () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
  }

  it.each([
    ['an endless body in chunks', 413, head('POST', JSON_LINE, CHUNKED)],
    ['an endless form in chunks', 413, head('POST', `Content-Type: ${FORM_TYPE['Content-Type']}`, CHUNKED)],
    ['a body as long as it says', 413, head('POST', JSON_LINE, `Content-Length: ${1e15}`)],
    ['an endless body of another type', 415, head('POST', 'Content-Type: text/plain', CHUNKED)],
    ['a long body of another type', 415, head('POST', 'Content-Type: text/plain', `Content-Length: ${1e15}`)],
    ['an endless body of another method', 405, head('PUT', JSON_LINE, CHUNKED)],
    ['a long body of another method', 405, head('PUT', JSON_LINE, `Content-Length: ${1e15}`)],
  ])('%s', async (_what, status, firstLines) => {
    stopTimers()
    const answer = await sendEndlessly(await start(), firstLines, CHUNK)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toMatch(/\r\nConnection: close\r\n/)
    expect(answer).toContain(`"status":${status}`)
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  })

  it('and a client that sends no more than it said keeps its connection', async () => {
    const port = await start()
    const one = (type: string, body: string, more = '') =>
      `${head('POST', `Content-Type: ${type}`, `Content-Length: ${body.length}${more}`)}${body}`
    const last = one('application/json', GOOD_JSON, '\r\nConnection: close')
    // More calls than continue in one turn of the event loop.
    const bad = one('application/json', '{').repeat(10)
    const answers = await sendBytes(port, one('text/plain', 'x') + bad + head('DELETE') + last)
    const statuses = answers.match(/(?<=HTTP\/1\.1 )\d+/g)
    expect(statuses).toEqual(['415', ...Array(10).fill('400'), '405', '200'])
  })
})

it('a client that gives up within its body harms nobody', async () => {
  const onEvent = vi.fn()
  const port = await start({ onEvent })
  const socket = connect(port, '127.0.0.1')
  const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`
  socket.end(`${head}{`)
  await until(() => expect(onEvent).toHaveBeenCalledOnce())
  expect(onEvent.mock.calls[0]?.[0]).toMatchObject({ type: 'token.refused', code: 'client_closed_request' })
  expectToken(await send(port, asJson(GOOD)))
})

describe('a body that the host has read', () => {
  const FORM_BODY = FORM_TYPE['Content-Type']
  const read = (req: object, type = FORM_BODY, headers = {}) => {
    const all = Object.assign(req, { headers: { 'content-type': type, ...headers } })
    return createBodyReader({ bodyLimit: 100, allowedOrigins: new Set() })(all as unknown as BodyRequest)
  }
  const readByHost = (body: Buffer, type?: string) => read({ readableDidRead: true, body }, type)

  it.each<[string, object]>([
    ['a request without a stream', {}],
    ['a stream that was read in part', { read: () => null, readableDidRead: true }],
    ['a stream that has ended', { read: () => null, readableEnded: true }],
  ])('takes the value that the host has made of %s', async (_, stream) => {
    expect((await read({ body: { email: 'a' }, ...stream }))()).toEqual({ email: 'a' })
  })

  it('makes nothing of a form that is shorter than its Content-Length, and of what breaks off', async () => {
    const short = Readable.from([Buffer.from('email=a&password=b')], { autoDestroy: false })
    expect(await refusalOf(read(short, FORM_BODY, { 'content-length': '50' }))).toMatchObject({ code: 'invalid_body' })
    const broken = new Readable({
      read() {
        this.destroy(new Error('reset'))
      },
    })
    expect(await refusalOf(read(broken))).toMatchObject({ code: 'client_closed_request' })
  })

  it('refuses text, because malformed bytes would be equal characters', async () => {
    const text = Readable.from([GOOD_FORM], { objectMode: true })
    expect(await refusalOf(read(text))).toMatchObject({ code: 'invalid_body' })
  })

  it('refuses a request whose client has already left', async () => {
    const gone = Readable.from([Buffer.from(GOOD_FORM)]).destroy()
    expect(await refusalOf(read(gone))).toMatchObject({ code: 'client_closed_request' })
  })

  it.each<[string, Uint8Array[], paused: boolean]>([
    ['its end', [Buffer.from('email=a')], false],
    ['its limit, with the rest unread', Array(3).fill(Buffer.alloc(60)), true],
  ])('listens to a body until %s', async (_, chunks, paused) => {
    const body = Readable.from(chunks, { autoDestroy: false })
    await read(body).catch(() => {})
    const events = ['data', 'end', 'error', 'close']
    expect(events.map((event) => body.listenerCount(event))).toEqual([0, 0, 0, 0])
    expect([body.isPaused(), body.readableEnded]).toEqual([paused, !paused])
  })

  it('changes nothing of the bytes that the host has read', async () => {
    const body = Buffer.from('email=a+b&password=c')
    const parse = await readByHost(body)
    const expected = { email: 'a b', password: 'c' }
    expect([parse(), parse(), body.toString()]).toEqual([expected, expected, 'email=a+b&password=c'])
  })
})

it('credentials may be as long together as a body may be, and no longer', () => {
  const credentials = { email: 'a'.repeat(4), password: 'b'.repeat(6) }
  expect(credentialsIn(credentials, 10)).toEqual(credentials)
  expect(thrownBy(() => credentialsIn(credentials, 9))).toMatchObject({ code: 'body_too_large' })
})

describe('JSON of a login', () => {
  const signsOf = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[{}[\]:,]/g)?.length ?? 0
  const reader = createBodyReader({ bodyLimit: 2_000_000, allowedOrigins: new Set() })

  async function parse(text: string): Promise<unknown> {
    const headers = { 'content-type': 'application/json' }
    const read = await reader({ headers, rawHeaders: [], body: Buffer.from(text) } as unknown as BodyRequest)
    return read()
  }

  it('is parsed as JSON.parse does, also with a member twice', async () => {
    const twice = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.json({ maxDepth: 3 }))
      .map(([one, two]) => `{"a":${one},"a":${two}}`)
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json({ maxDepth: 5 }), twice), async (text) => {
        fc.pre(signsOf(text) <= MOST_SIGNS)
        expect(await parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('may be a text of a megabyte, of escapes or of letters', async () => {
    for (const text of [`"${'\\"'.repeat(500_000)}"`, `"${'x'.repeat(1_000_000)}"`, ' '.repeat(1_000_000) + 1]) {
      expect((await parse(text)) === JSON.parse(text)).toBe(true)
    }
  })

  it.each(['[', ']', '{', '}', ',', ':', '[{}],', '{"a":', '{"a":1},'])(
    'with the signs %s is parsed only when it has at most 400 of them',
    async (signs) => {
      const parsed = vi.spyOn(JSON, 'parse')
      onTestFinished(() => parsed.mockRestore())
      expect(await parse(signs.repeat(401))).toBeUndefined()
      expect(parsed).not.toHaveBeenCalled()
      await parse(signs.repeat(400 / signsOf(signs)))
      expect(parsed).toHaveBeenCalledOnce()
    },
  )
})
