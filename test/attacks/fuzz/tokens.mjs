// 200 seeds × 5,000 mutations of valid tokens. Only a token that is identical to a valid token may be accepted.
// One seed again: npm run fuzz:tokens -- --seed 123
import { createPrivateKey, createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto'
import { createTokenIssuer } from 'express-token-endpoint'
import { decode, encode, ISSUER, signParts } from '../../support/plain-js/token-forger.mjs'
import { random, say, seeds } from './random.mjs'

const SEEDS = 200
const MUTATIONS = 5000
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const LETTERS = `${BASE64URL}+/=.~ \t\r\n\0"{}%`
const LOOK_ALIKES = {
  a: 'а',
  e: 'е',
  o: 'о',
  c: 'с',
  A: 'Α',
  '.': '．',
  '-': '‐',
  _: '＿',
  I: 'Ӏ',
  0: '𝟎',
  K: 'K',
  s: 'ſ',
}

const pair = (type, options) => generateKeyPairSync(type, options).privateKey
const KEYS = {
  HS256: createSecretKey(Buffer.alloc(32, 7)),
  HS512: createSecretKey(Buffer.alloc(64, 9)),
  RS256: pair('rsa', { modulusLength: 2048 }),
  PS256: pair('rsa', { modulusLength: 2048 }),
  ES256: pair('ec', { namedCurve: 'P-256' }),
  ES384: pair('ec', { namedCurve: 'P-384' }),
  ES512: pair('ec', { namedCurve: 'P-521' }),
}
const ALGS = Object.keys(KEYS)
const STRANGERS = {
  HS: createSecretKey(Buffer.alloc(64, 1)),
  RS: KEYS.PS256,
  PS: KEYS.RS256,
  ES: pair('ec', { namedCurve: 'P-256' }),
}
const ORDERS = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ES384: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  ES512:
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
}

const tokensOf = (alg) => {
  const key = KEYS[alg]
  const material = key.type === 'secret' ? { secret: key } : { privateKey: key }
  return createTokenIssuer({ issuer: ISSUER, keys: { alg, kid: 'k', ...material } })
}
const ISSUERS = Object.fromEntries(ALGS.map((alg) => [alg, tokensOf(alg)]))

const splice = (text, at, removed, put = '') => text.slice(0, at) + put + text.slice(at + removed)

/** Mutations that turn a valid token into a token that must be refused. `all` are valid tokens of one issuer. */
const MUTATIONS_BY_NAME = {
  letter: ({ token }, r) => splice(token, r.below(token.length), 1, r.pick(LETTERS)),
  letters: ({ token }, r) =>
    Array.from({ length: 1 + r.below(8) }).reduce(
      (text) => splice(text, r.below(text.length), 1, r.pick(LETTERS)),
      token,
    ),
  case: ({ token }, r) => {
    const at = r.below(token.length)
    const letter = token[at]
    return splice(token, at, 1, letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())
  },
  'whole case': ({ token }, r) => (r.chance(0.5) ? token.toUpperCase() : token.toLowerCase()),
  insert: ({ token }, r) => splice(token, r.below(token.length + 1), 0, r.text(1 + r.below(4), LETTERS)),
  delete: ({ token }, r) => splice(token, r.below(token.length), 1 + r.below(4)),
  duplicate: ({ token }, r) => {
    const at = r.below(token.length)
    const length = 1 + r.below(20)
    return splice(token, at, 0, token.slice(at, at + length))
  },
  transpose: ({ token }, r) => {
    const at = r.below(token.length - 1)
    return splice(token, at, 2, token[at + 1] + token[at])
  },
  truncate: ({ token }, r) =>
    r.chance(0.5) ? token.slice(0, r.below(token.length)) : token.slice(1 + r.below(token.length)),
  around: ({ token }, r) => {
    const put = r.pick([
      ' ',
      '\t',
      '\n',
      '\r\n',
      '\0',
      '=',
      '==',
      '.',
      '%20',
      '\ufeff',
      '\u200b',
      '"',
      "'",
      'Bearer ',
      ',',
    ])
    return r.chance(0.5) ? put + token : token + put
  },
  'spare bits': ({ parts }, r) => {
    const changed = [...parts]
    const i = r.pick([0, 1, 2].filter((p) => parts[p].length % 4 > 1))
    if (i === undefined) return `${parts.join('.')}=`
    const last = BASE64URL.indexOf(changed[i].at(-1))
    const spare = changed[i].length % 4 === 2 ? 16 : 4
    changed[i] = changed[i].slice(0, -1) + BASE64URL[last ^ (1 + r.below(spare - 1))]
    return changed.join('.')
  },
  padding: ({ parts }, r) => {
    const changed = [...parts]
    const i = r.below(3)
    changed[i] += r.pick(['=', '==', '===', '%3D'])
    return changed.join('.')
  },
  'base64 letters': ({ token }, r) =>
    /[-_]/.test(token) ? token.replaceAll('-', '+').replaceAll('_', '/') : `${token}${r.pick('+/')}`,
  'look-alike': ({ token }, r) => {
    const known = [...token].flatMap((letter, i) => (letter in LOOK_ALIKES ? [i] : []))
    const at = r.pick(known)
    return splice(token, at, 1, LOOK_ALIKES[token[at]])
  },
  'byte of a part': ({ parts }, r) => {
    const changed = [...parts]
    const i = r.below(3)
    const bytes = decode(parts[i])
    bytes[r.below(bytes.length)] ^= 1 << r.below(8)
    changed[i] = encode(bytes)
    return changed.join('.')
  },
  'length of the signature': ({ parts: [h, p, s] }, r) => {
    const bytes = decode(s)
    const changed = r.pick([
      bytes.subarray(0, r.below(bytes.length)),
      Buffer.concat([bytes, r.bytes(1 + r.below(8))]),
      Buffer.concat([Buffer.alloc(1), bytes]),
      Buffer.alloc(bytes.length),
      r.bytes(bytes.length),
    ])
    return `${h}.${p}.${encode(changed)}`
  },
  'parts in another order': ({ parts }, r) => {
    const [a, b, c] = r.pick([
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
      [0, 0, 2],
      [0, 1, 1],
      [0, 1, 0],
    ])
    return `${parts[a]}.${parts[b]}.${parts[c]}`
  },
  'parts of several tokens': ({ all, others }, r) => {
    const from = () => r.pick(r.chance(0.7) ? all : others).split('.')
    return `${from()[0]}.${from()[1]}.${from()[2]}`
  },
  'number of parts': ({ token, parts }, r) =>
    r.pick([
      `${token}.`,
      `.${token}`,
      `${token}.${parts[1]}`,
      parts.slice(0, 2).join('.'),
      `${token}.${token}`,
      token.replace('.', '..'),
    ]),
  'header edited': ({ parts: [h, p, s] }, r) => {
    const header = JSON.parse(decode(h))
    const name = r.pick(['alg', 'typ', 'kid', 'crit', 'jwk', 'b64', 'zip', 'x5c'])
    header[name] = r.pick([
      'none',
      'HS256',
      'HS384',
      'RS256',
      'ES256',
      '',
      null,
      0,
      [],
      {},
      ['b64'],
      'JWT',
      '../k',
      false,
    ])
    return `${encode(header)}.${p}.${s}`
  },
  'header spelt otherwise': ({ parts: [h, p, s] }, r) => {
    const header = JSON.parse(decode(h))
    const text = r.pick([
      JSON.stringify(header, null, 1),
      JSON.stringify(Object.fromEntries(Object.entries(header).reverse())),
      JSON.stringify(header).replace('alg', '\\u0061lg'),
      JSON.stringify(header).replace('{', '{"alg":"none",'),
      `${JSON.stringify(header)} `,
      `\ufeff${JSON.stringify(header)}`,
    ])
    return `${encode(text)}.${p}.${s}`
  },
  'payload edited': ({ parts: [h, p, s] }, r) => {
    const payload = JSON.parse(decode(p))
    payload[r.pick(['sub', 'exp', 'iat', 'iss', 'aud', 'scope', 'jti', 'client_id', 'admin'])] = r.pick([
      'acc-2',
      9_999_999_999,
      'admin',
      true,
      ISSUER,
      [],
    ])
    return `${h}.${encode(payload)}.${s}`
  },
  'signed with another key': ({ parts: [h, p], alg }) => signParts(h, p, STRANGERS[alg.slice(0, 2)], alg),
  'signed with the public key': ({ parts: [, p], alg }, r) => {
    const hs = r.pick(['HS256', 'HS384', 'HS512'])
    const open =
      KEYS[alg].type === 'secret'
        ? undefined
        : createPublicKey(createPrivateKey(KEYS[alg].export({ type: 'pkcs8', format: 'pem' })))
    const secret = open
      ? r.pick([
          Buffer.from(open.export({ type: 'spki', format: 'pem' })),
          open.export({ type: 'spki', format: 'der' }),
        ])
      : Buffer.alloc(0)
    return signParts(encode({ alg: r.pick([hs, alg]), typ: 'at+jwt', kid: 'k' }), p, secret, hs)
  },
  // From here on the signature is valid. Only the encoding or the contents are not.
  'well signed, spelt otherwise': ({ parts: [h, p], alg }, r) => {
    const spelt = (part) =>
      r.pick([
        `${part}=`,
        `${part}==`,
        `${part} `,
        `\n${part}`,
        splice(part, r.below(part.length), 0, r.pick(' \n\r\t.=+/~\0')),
        `${part}A`,
      ])
    const parts = r.chance(0.5) ? [spelt(h), p] : [h, spelt(p)]
    return signParts(...parts, KEYS[alg], alg)
  },
  'well signed, header edited': ({ parts: [h, p], alg }, r) => {
    const header = JSON.parse(decode(h))
    const [name, value] = r.pick([
      ['alg', 'none'],
      ['alg', alg.toLowerCase()],
      ['alg', [alg]],
      ['alg', undefined],
      ['alg', alg === 'RS256' ? 'PS256' : 'RS256'],
      ['typ', 'JWT'],
      ['typ', 'AT+JWT'],
      ['typ', 'application/at+jwt'],
      ['typ', undefined],
      ['kid', 'K'],
      ['kid', undefined],
      ['kid', ['k']],
      ['kid', '__proto__'],
      ['crit', []],
      ['crit', ['exp']],
      ['crit', null],
    ])
    header[name] = value
    return signParts(encode(header), p, KEYS[alg], alg)
  },
  'well signed, claims edited': ({ parts: [h, p], alg }, r) => {
    const payload = JSON.parse(decode(p))
    const [name, value] = r.pick([
      ['iss', `${ISSUER}/`],
      ['iss', 'https://evil.example'],
      ['iss', [ISSUER]],
      ['aud', [ISSUER]],
      ['aud', ''],
      ['sub', ''],
      ['sub', 7],
      ['exp', undefined],
      ['exp', 0],
      ['exp', 1e308],
      ['exp', `${payload.exp}`],
      ['exp', payload.iat],
      ['iat', payload.exp],
      ['iat', -1],
      ['iat', payload.iat + 1000],
      ['nbf', payload.exp],
      ['nbf', 'now'],
      ['jti', undefined],
      ['jti', null],
      ['client_id', undefined],
      ['client_id', ''],
      ['scope', ['a']],
      ['scope', ' a'],
    ])
    payload[name] = value
    return signParts(h, encode(payload), KEYS[alg], alg)
  },
}
const NAMES = Object.keys(MUTATIONS_BY_NAME)
/** Mutations that sign cost 100 times as much as the others, so they run less often. */
const isDear = (name) => name.includes('signed')
const CHEAP = NAMES.filter((name) => !isDear(name))
const DEAR = NAMES.filter(isDear)

/** Returns the second valid signature of an ECDSA signature (see test/attacks/keys/json-web-signature.test.ts). */
function otherSignature(alg, token) {
  const [h, p, s] = token.split('.')
  const bytes = decode(s)
  const half = bytes.length / 2
  const other = ORDERS[alg] - BigInt(`0x${bytes.subarray(half).toString('hex')}`)
  return `${h}.${p}.${encode(Buffer.concat([bytes.subarray(0, half), Buffer.from(other.toString(16).padStart(half * 2, '0'), 'hex')]))}`
}

const issue = (issuer, r, i) =>
  issuer.issue({
    accountId: `acc-${r.below(1000)}`,
    scopes: r.pick([[], ['a'], ['reports:read', 'reports:write']]),
    claims: r.pick([{}, { i }, { name: r.text(r.below(30), 'aé漢😀"\\') }]),
  }).token

const tried = Object.fromEntries(NAMES.map((name) => [name, 0]))
let same = 0
let malleable = 0
const reasons = {}
const accepted = []

async function run(seed) {
  const r = random(seed)
  const alg = ALGS[Math.abs(seed) % ALGS.length]
  const issuer = ISSUERS[alg]
  const all = Array.from({ length: 8 }, (_, i) => issue(issuer, r, i))
  const others = ALGS.filter((other) => other !== alg).map((other, i) => issue(ISSUERS[other], r, i))
  for (const token of all) await issuer.verify(token)
  for (let i = 0; i < MUTATIONS; i++) {
    const token = r.pick(all)
    const name = r.pick(r.chance(0.02) ? DEAR : CHEAP)
    const mutant = MUTATIONS_BY_NAME[name]({ token, parts: token.split('.'), all, others, alg }, r)
    tried[name]++
    const isGood = all.includes(mutant)
    try {
      await issuer.verify(mutant)
      if (!isGood) accepted.push({ seed, i, name, alg, token, mutant })
      else same++
    } catch (error) {
      if (error.code !== 'invalid_token' || isGood) accepted.push({ seed, i, name, alg, token, mutant, error })
      reasons[error.reason] = (reasons[error.reason] ?? 0) + 1
    }
  }
  if (alg in ORDERS) {
    const { id } = await issuer.verify(otherSignature(alg, all[0]))
    if (id === (await issuer.verify(all[0])).id) malleable++
  }
}

const started = performance.now()
const list = seeds(SEEDS)
say(`tokens: seeds ${list[0]} to ${list.at(-1)}, ${MUTATIONS} mutations each`)
for (const seed of list) await run(seed)
const total = Object.values(tried).reduce((a, b) => a + b)
say(`${total} mutated tokens in ${((performance.now() - started) / 1000).toFixed(1)} s`)
say(`by mutation: ${JSON.stringify(tried)}`)
say(`refused: ${JSON.stringify(reasons)}; came out as a good token, letter for letter: ${same}`)
say(
  `beside them, ${malleable} ECDSA tokens with their other signature (r, n − s): accepted with the same jti, as RFC 7515 has it`,
)
for (const one of accepted) say(`WRONG ${JSON.stringify(one)} ${one.error?.stack ?? ''}`)
say(accepted.length === 0 ? 'none accepted' : `${accepted.length} WRONG`)
process.exitCode = accepted.length === 0 ? 0 : 1
