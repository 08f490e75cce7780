// 20,000 random bodies over kept-alive connections: no 5xx, and no connection reset. One seed again: -- --seed 123
import { createServer } from 'node:http'
import express from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, tokenRouter } from 'express-token-endpoint'
import { createClient } from '../../support/plain-js/http-client.mjs'
import { random, say, seeds } from './random.mjs'

const BODIES = 20_000
const CONNECTIONS = 4
const GOOD = { email: 'alice@example.com', password: 'correct horse' }
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const PIECES = [
  'email',
  'password',
  '"',
  ':',
  ',',
  '{',
  '}',
  '[',
  ']',
  '\\',
  '\\u0000',
  '\\ud800',
  '=',
  '&',
  '%',
  '%ff',
  '%00',
  '+',
  ';',
  '\0',
  'é',
  '漢',
  '😀',
  '__proto__',
  'constructor',
  'null',
  'true',
  '1e999',
  '-0',
  ' ',
  '\n',
  '\ufeff',
  'alice@example.com',
]

const anyText = (r) => Array.from({ length: r.below(40) }, () => r.pick(PIECES)).join('')

function anyValue(r, depth = 0) {
  const leaf = [
    () => anyText(r),
    () => r.below(1000) - 500,
    () => null,
    () => r.chance(0.5),
    () => GOOD.email,
    () => '',
    () => '\ud800',
    () => '\0',
    () => 'x'.repeat(r.below(3000)),
  ]
  const deep = [
    () => Array.from({ length: r.below(4) }, () => anyValue(r, depth + 1)),
    () => Object.fromEntries(Array.from({ length: r.below(4) }, () => [r.pick(PIECES), anyValue(r, depth + 1)])),
  ]
  return r.pick(depth < 3 ? [...leaf, ...deep] : leaf)()
}

const mutated = (r, text) => {
  const bytes = Buffer.from(text)
  for (let i = 0; i <= r.below(4); i++) bytes[r.below(bytes.length)] = r.below(256)
  return r.chance(0.2) ? bytes.subarray(0, r.below(bytes.length)) : bytes
}

const BODIES_BY_NAME = {
  bytes: (r) => r.bytes(r.below(300)),
  text: (r) => anyText(r),
  'json value': (r) => JSON.stringify(anyValue(r)),
  credentials: (r) => JSON.stringify({ email: anyValue(r), password: anyValue(r) }),
  'repeated members': (r) =>
    `{"email":${JSON.stringify(anyValue(r))},"email":"alice@example.com","password":${JSON.stringify(anyValue(r))}}`,
  'mutated json': (r) => mutated(r, JSON.stringify(GOOD)),
  form: (r) => `email=${encodeURIComponent(anyText(r).toWellFormed())}&password=${anyText(r)}`,
  'form text': (r) => Array.from({ length: r.below(8) }, () => `${anyText(r)}=${anyText(r)}`).join('&'),
  'mutated form': (r) => mutated(r, new URLSearchParams(GOOD).toString()),
  brackets: (r) => r.pick(['[', '{"a":', '[[{"email":']).repeat(r.below(2000)),
  numbers: (r) => `{"email":${r.text(1 + r.below(500), '0123456789eE.-+')},"password":1}`,
  'utf-16': (r) => Buffer.from(JSON.stringify(GOOD) + anyText(r), 'utf16le'),
  'too large': (r) => Buffer.alloc(10_241 + r.below(90_000), 'x'),
  nothing: () => '',
  good: () => JSON.stringify(GOOD),
}
const NAMES = Object.keys(BODIES_BY_NAME)
const TYPES = [
  JSON_TYPE,
  JSON_TYPE,
  JSON_TYPE,
  FORM_TYPE,
  FORM_TYPE,
  FORM_TYPE,
  `${JSON_TYPE}; charset=utf-8`,
  `${JSON_TYPE};charset="UTF-8"`,
  `${FORM_TYPE}; charset=latin1`,
  'text/plain',
  'multipart/form-data; boundary=x',
  'APPLICATION/JSON',
  `${JSON_TYPE};`,
  `${JSON_TYPE}; charset`,
  ';',
  'x',
  undefined,
]

const unexpected = []
const passwords = createPasswords({
  hashers: [
    {
      accepts: (hash) => hash.startsWith('plain:'),
      verify: (password, hash) => hash === `plain:${password}`,
      hash: (password) => `plain:${password}`,
    },
  ],
})
const app = express()
app.use(
  tokenRouter({
    tokens: createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 's'.repeat(32) } }),
    accounts: memoryAccounts([{ id: 'acc-1', email: GOOD.email, passwordHash: `plain:${GOOD.password}` }]),
    passwords,
    throttle: false,
    onEvent: (event) => {
      events++
      if (event.type === 'dependency.failed') unexpected.push(event)
    },
  }),
)
let events = 0
let connections = 0
const server = createServer(app).listen(0, '127.0.0.1')
server.on('connection', () => connections++)
await new Promise((resolve) => server.once('listening', resolve))
const { port } = server.address()
const client = createClient(port, { connections: CONNECTIONS })

/** Returns the status of the response. */
async function send(body, type, more) {
  const headers = { ...(type !== undefined && { 'Content-Type': type }), ...more }
  return (await client.send({ body, headers })).status
}

const counts = {}
const tried = Object.fromEntries(NAMES.map((name) => [name, 0]))
const wrong = []

const list = seeds(CONNECTIONS)
say(`bodies: seeds ${list[0]} to ${list.at(-1)}, ${BODIES / list.length} bodies each`)
const started = performance.now()
await Promise.all(
  list.map(async (seed) => {
    const r = random(seed)
    for (let i = 0; i < BODIES / list.length; i++) {
      const name = r.chance(0.01) ? 'too large' : r.pick(NAMES.filter((known) => known !== 'too large'))
      const body = Buffer.from(BODIES_BY_NAME[name](r))
      const type = r.chance(0.3) ? r.pick(TYPES) : name.includes('form') ? FORM_TYPE : JSON_TYPE
      const more = {
        ...(r.chance(0.3) ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': body.length }),
        ...(r.chance(0.03) && { 'Content-Encoding': r.pick(['gzip', 'br', 'identity', 'x']) }),
      }
      tried[name]++
      try {
        const status = await send(body, type, more)
        counts[status] = (counts[status] ?? 0) + 1
        if (![200, 400, 403, 413, 415].includes(status))
          wrong.push({ seed, i, name, type, more, status, body: body.toString('base64') })
      } catch (error) {
        wrong.push({ seed, i, name, type, more, error: `${error}`, body: body.subarray(0, 300).toString('base64') })
      }
    }
  }),
)
client.close()
server.close()
say(
  `${Object.values(tried).reduce((a, b) => a + b)} bodies in ${((performance.now() - started) / 1000).toFixed(1)} s on ${connections} connections`,
)
say(`by kind: ${JSON.stringify(tried)}`)
say(`answers: ${JSON.stringify(counts)}; events: ${events}`)
for (const one of [...wrong, ...unexpected]) say(`WRONG ${JSON.stringify(one)} ${one.error?.stack ?? ''}`)
const good = wrong.length + unexpected.length === 0 && events === BODIES
say(
  good
    ? 'no 5xx, no reset, an event for each'
    : `WRONG: ${wrong.length} answers, ${unexpected.length} failures, ${events} events`,
)
process.exitCode = good ? 0 : 1
