// Bodies of logins, over HTTP. The peers follow the same rules: the same types, the same limit, two members that are texts.
import { createRequire } from 'node:module'
import express from 'express'
import { createPasswords, createTokenIssuer, tokenRouter } from 'express-token-endpoint'
import fc from 'fast-check'
import { createClient, TOKEN_PATH } from '../../../support/plain-js/http-client.mjs'
import { byteString, editedBy, jsonObject, jsonOf, own, pick, textOf, toBytes, utf8, weighted } from '../bytes.mjs'
import { classes } from '../compare.mjs'
import { ISSUER, SECRET } from '../keys.mjs'
import { startServer } from '../peers.mjs'

/** The package with which Express reads the type of a body. */
const { parse } = createRequire(createRequire(import.meta.url).resolve('express'))('content-type')

const LIMIT = 10_240
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The credentials that this package read from the current request. */
let seen = {}
let events = 0

const passwords = createPasswords({
  hashers: [
    {
      accepts: (hash) => hash === 'any',
      verify(password) {
        seen.password = password
        return true
      },
      hash: () => 'any',
    },
  ],
})

/** Returns the credentials in a parsed body. */
function credentialsOf(body) {
  const email = own(body, 'email')
  const password = own(body, 'password')
  if (typeof email !== 'string' || typeof password !== 'string') throw new Error('no credentials')
  return { email, password }
}

function appWithPeer() {
  const app = express()
  app.use(
    tokenRouter({
      tokens: createTokenIssuer({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } }),
      accounts(email) {
        seen.email = email
        return { id: 'acc-1', passwordHash: 'any' }
      },
      passwords,
      limits: false,
      onEvent: () => {
        events++
      },
    }),
  )
  const parsers = [
    express.json({ limit: LIMIT, inflate: false }),
    express.urlencoded({ limit: LIMIT, inflate: false, extended: false }),
  ]
  app.post('/peer', ...parsers, (req, res) => {
    res.json(credentialsOf({ ...req.body }))
  })
  // Express recognises an error handler by its four parameters.
  app.use((error, _req, res, _next) => {
    res.status(error.status ?? 400).json({ message: `${error.type ?? error.message}` })
  })
  return app
}

let client

/** Sends a case. Starts the server at the first one. */
async function send(path, { type, coding, body, chunked }) {
  client ??= createClient(await startServer(appWithPeer()), { connections: 1 })
  const headers = {
    ...(type !== null && { 'Content-Type': type }),
    ...(coding !== null && { 'Content-Encoding': coding }),
    ...(chunked && { 'Transfer-Encoding': 'chunked' }),
  }
  return client.send({ path, headers, body: toBytes(body) })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Node refuses these characters
const fieldValue = (text) => text.replace(/[\0-\x08\n-\x1f\x7f]/g, '')

class Refusal extends Error {
  constructor({ status, body }) {
    super(`${status} ${jsonOf(body)?.message ?? ''}`)
    this.code = `${status} ${jsonOf(body)?.code ?? jsonOf(body)?.message ?? ''}`
    this.status = status
  }
}

async function askOurs(one) {
  seen = {}
  const before = events
  const answer = await send(TOKEN_PATH, one)
  if (events !== before + 1) throw new Error(`${events - before} events for one request`)
  if (answer.status !== 200) throw new Refusal(answer)
  return seen
}

async function askExpress(one) {
  const answer = await send('/peer', one)
  if (answer.status !== 200) throw new Refusal(answer)
  return JSON.parse(answer.body)
}

/** Reads a form. URLSearchParams would drop a question mark at the start. */
const fieldsIn = (text) => new URLSearchParams(`&${text}`)

/** The platform's own parsers, without a server. */
function askPlatform({ kind, bytes }) {
  if (bytes.length > LIMIT) throw new Error('too large')
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  if (kind === 'json') return credentialsOf(JSON.parse(text))
  if (kind === 'form') return credentialsOf(Object.fromEntries(fieldsIn(text)))
  throw new Error('another type')
}

/** Returns the kind of a body and its charset. Express reads the header in the same way. */
function typeOf(header) {
  const { type, parameters } = parse(header ?? '')
  const kind = type === JSON_TYPE ? 'json' : type === FORM_TYPE ? 'form' : 'other'
  return { kind, charset: parameters.charset?.toLowerCase() ?? 'utf-8' }
}

function hasRepeatedField(text) {
  const names = [...fieldsIn(text).keys()]
  return new Set(names).size < names.length
}

/** Returns whether a form has a `%` without two hexadecimal digits, or bytes that are not UTF-8. */
function isMalformedForm(text) {
  return text.split(/[&=]/).some((part) => {
    if (/%(?![0-9a-f]{2})/i.test(part)) return true
    const bytes = toBytes(
      utf8(part).replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
    )
    return textOf(bytes) === undefined
  })
}

const stricter = classes({
  'a repeated form field': [
    'The form has two fields of one name, and parsers disagree on which of them counts.',
    'RFC 6749 section 3.2',
    ({ kind, text }) => kind === 'form' && text !== undefined && hasRepeatedField(text),
  ],
  'malformed percent-encoding': [
    'A form has a `%` without two hexadecimal digits, or encoded bytes that are not UTF-8. Other parsers guess.',
    'RFC 3986 section 2.1',
    ({ kind, text }) => kind === 'form' && text !== undefined && isMalformedForm(text),
  ],
  'a body that is not UTF-8': [
    'Other parsers replace the bytes, so different passwords become equal.',
    'RFC 8259 section 8.1',
    ({ kind, text }) => kind !== 'other' && text === undefined,
  ],
  'a lone surrogate': [
    'The e-mail address or the password has half a character. UTF-8 replaces it, so different passwords become equal.',
    'RFC 8259 section 8.2',
    ({ json }) =>
      [own(json, 'email'), own(json, 'password')].some((value) => typeof value === 'string' && !value.isWellFormed()),
  ],
  'another type or charset': [
    'The type is not JSON or a form in UTF-8, or has a content coding.',
    'RFC 9110 section 15.5.16',
    ({ kind, charset, coding }) =>
      kind === 'other' || charset !== 'utf-8' || (coding !== null && coding.toLowerCase() !== 'identity'),
  ],
  'an impossible e-mail address': [
    'The address has a NUL or more than 320 characters. Some databases fail on it, so the response is 403 without a look-up.',
    '[`unknown_account`](../../../docs/reference/errors.md#login-reasons)',
    ({ fields }) => {
      const email = own(fields, 'email')
      return typeof email === 'string' && (email.includes('\0') || email.length > 320)
    },
  ],
})

const lenient = [
  {
    name: 'a bracket in the value of a form field',
    reason: 'The value contains `]=`. Express divides the field there, this package at the first equals sign.',
    reference: 'URL Standard section 5.1',
    peers: ['express'],
    holds: ({ kind, text }) => kind === 'form' && /=[^&]*\]=/.test(text),
  },
]

const NAMES = ['email', 'email', 'password', 'password', 'Email', '__proto__', 'constructor', 'toString', '', 'x']
const VALUES = [
  ...'"alice@example.com" "" null true 0 -0 1e999 [] {} ["a"] {"email":"b"} {"a":1,"a":2}'.split(' '),
  ...['{"a":{"b":1,"b":1}}', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '"é"', '"漢"', '" a "'],
  '"{\\"a\\":1,\\"a\\":1}"',
]
const CREDENTIALS = { email: 'alice@example.com', password: 'correct horse' }
const MARKS = ['"', ',', ':', '{', '}', '\\', '\xff', '\0', '\xef\xbb\xbf']
const json = editedBy(jsonObject(CREDENTIALS, NAMES, VALUES), MARKS)
const FIELD_NAMES = [
  ...['email', 'password', 'email', 'password', 'e%6dail', 'x', '', '__proto__', 'email%', 'email[]', '+email'],
  '%EF%BB%BFemail',
]
const FIELD_VALUES = [
  ...['alice%40example.com', 'a+b', 'a%20b', '%', '%zz', '%ff', '%C3%A9', '\xc3\xa9', '\xff', '', 'a=b', '%ED%A0%80'],
  ...['%00', 'a;b'],
]
const field = fc
  .tuple(pick(...FIELD_NAMES), pick('=', '=', '=', ''), pick(...FIELD_VALUES))
  .map((texts) => texts.join(''))
const fields = fc
  .tuple(pick('email=a&password=b', 'password=b&email=a%20b', ''), fc.array(field, { maxLength: 3 }))
  .map(([base, more]) => [base, ...more].join('&'))
const form = editedBy(fields, ['&', '=', '%', '+', ';', '\xef\xbb\xbf'])

const PARAMETERS = [
  ...Array(16).fill(''),
  ...['; charset=utf-8', ';charset="UTF-8"', '; charset=utf-16', '; charset=latin1', ';', '; charset', '; x=y', ' '],
  ...['; charset=utf8', '; charset=utf-8; charset=utf-16'],
]
const nested = pick('[', '{"a":', '{"email":[').chain((text) => fc.nat(3000).map((times) => text.repeat(times)))
/** Bodies of about the greatest length. */
const long = fc
  .integer({ min: 10_200, max: 10_300 })
  .map((length) => JSON.stringify({ ...CREDENTIALS, x: 'x'.repeat(length - 62) }))
const inUtf16 = (text) => Buffer.from(textOf(toBytes(text)) ?? '', 'utf16le').toString('latin1')

const ofType = (type, body) =>
  fc.record({
    type: weighted(
      [18, pick(...PARAMETERS).map((parameters) => type + parameters)],
      [1, fc.constant(null)],
      [1, pick('', ';', 'x', 'text/plain', 'text/json', type.toUpperCase(), `${type}x`, `application/vnd.api+json`)],
    ),
    coding: weighted([20, fc.constant(null)], [1, pick('identity', 'IDENTITY', 'gzip', 'br', 'x', '')]),
    body: weighted([20, body], [1, fc.oneof(byteString(40), nested)], [1, long], [1, body.map(inUtf16)]),
    chunked: fc.boolean(),
  })

export default {
  name: 'body',
  title: 'Bodies of logins',
  fixed: ['coding', 'chunked'],
  cases: fc.oneof(ofType(JSON_TYPE, json), ofType(FORM_TYPE, form)),
  stricter,
  lenient,
  isRefusal: ({ status }) => [400, 403, 413, 415].includes(status),
  run({ type, ...rest }) {
    const one = { ...rest, type: type === null ? null : fieldValue(type) }
    const bytes = toBytes(one.body)
    const { kind, charset } = typeOf(one.type)
    const text = textOf(bytes)
    const plain = text?.replace(/^\ufeff/, '')
    const json = kind === 'json' && plain !== undefined ? jsonOf(plain) : undefined
    const fields = kind === 'form' && plain !== undefined ? Object.fromEntries(fieldsIn(plain)) : json
    const input = { ...one, bytes, kind, charset, text: plain, json, fields }
    return {
      input,
      ours: () => askOurs(one),
      peers: { express: () => askExpress(one), platform: async () => askPlatform(input) },
    }
  },
}
