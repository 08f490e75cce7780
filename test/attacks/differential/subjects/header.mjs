// Authorization headers around one valid token, which the placeholder TOKEN stands for.

import { parse } from 'node:querystring'
import { expressjwt } from 'express-jwt'
import { requireBearer } from 'express-token-endpoint'
import fc from 'fast-check'
import jsonwebtoken from 'jsonwebtoken'
import { Strategy } from 'passport-http-bearer'
import { byteString, edited, editedBy, edits, pick, weighted } from '../bytes.mjs'
import { classes } from '../compare.mjs'
import { BY_ALG, ISSUER, jwkOf, KID, NOW } from '../keys.mjs'
import { oauth4webapi, ours } from '../peers.mjs'
import { tokenSignedBy } from './token.mjs'

const ALG = 'ES256'
const key = BY_ALG[ALG].verify
const TOKEN = tokenSignedBy(ALG, BY_ALG[ALG].sign)
const KEY_SET = JSON.stringify({ keys: [jwkOf(key, { kid: KID, alg: ALG })] })

const guard = requireBearer({ tokens: ours({ alg: ALG, kid: KID, publicKey: key }) })
const rules = { algorithms: [ALG], issuer: ISSUER, audience: ISSUER, clockTimestamp: NOW }
const checkWithExpressJwt = expressjwt({ secret: key, ...rules })

/** The peers, each as a function of the request. All return the account of the token. */
const PEERS = {
  'express-jwt': (req) =>
    new Promise((resolve, reject) => {
      checkWithExpressJwt(req, {}, (error) => (error ? reject(error) : resolve(req.auth.sub)))
    }),
  'passport-http-bearer': (req) =>
    new Promise((resolve, reject) => {
      const strategy = new Strategy((token, done) => {
        jsonwebtoken.verify(token, key, rules, (error, payload) => done(null, error ? false : payload))
      })
      const fail = (challenge) => reject(new Error(`${challenge}`.replace(/[",].*/s, '')))
      Object.assign(strategy, { success: ({ sub }) => resolve(sub), fail, error: reject })
      strategy.authenticate(req)
    }),
  oauth4webapi: async (req) => {
    const headers = new Headers()
    for (const line of req.lines) headers.append('authorization', line)
    return (await oauth4webapi(ALG, KEY_SET, headers)).sub
  },
}

/** Returns a text that Node accepts as the value of a header: without line ends, other control characters and outer spaces. */
const fieldValue = (text) =>
  text
    .replaceAll('TOKEN', TOKEN)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: Node refuses these characters
    .replace(/[\0-\x08\n-\x1f\x7f]|[^\0-\xff]/g, '')
    .replace(/^[ \t]+|[ \t]+$/g, '')

function requestOf({ lines, query }) {
  const values = lines.map(fieldValue)
  return {
    method: 'GET',
    url: `/accounts${query === '' ? '' : `?${query}`}`,
    query: parse(query),
    // Node keeps the first line of this name.
    headers: values.length > 0 ? { authorization: values[0] } : {},
    rawHeaders: values.flatMap((value) => ['Authorization', value]),
    socket: { remoteAddress: '192.0.2.1' },
    lines: values,
  }
}

// The parser of Express 5. URLSearchParams would drop a question mark at the start.
const hasToken = (query) => Object.hasOwn(parse(query), 'access_token')
const isBearer = ([first]) => /^bearer( |$)/i.test(first ?? '')

const stricter = classes({
  'two Authorization headers': [
    'Node keeps the first header line, and a proxy may have read a different one.',
    'RFC 9110 section 5.3',
    ({ lines }) => lines.length > 1,
  ],
  'a token in the query': [
    'The query has `access_token` in addition to the header.',
    'RFC 6750 section 2',
    ({ lines, query }) => isBearer(lines) && hasToken(query),
  ],
  'a token in the query only': [
    'The only token is in the query, which logs and `Referer` headers show.',
    'RFC 9700 section 4.3.2',
    ({ lines, query }) => !isBearer(lines) && hasToken(query),
  ],
  'a token with other characters': [
    'The token has a character that is neither base64url nor a dot, such as padding. oauth4webapi ignores some of them.',
    'RFC 7515 section 2',
    ({ lines }) => isBearer(lines) && !/^bearer +[\w.-]+$/i.test(lines[0]),
  ],
})

const lenient = [
  {
    name: 'several spaces after the scheme',
    reason: 'The grammar allows more than one space between the scheme and the token.',
    reference: 'RFC 9110 section 11.4',
    peers: ['express-jwt', 'passport-http-bearer'],
    holds: ({ lines }) => /^bearer {2,}[^ ]+$/i.test(lines[0]),
  },
]

const SCHEMES = [
  ...Array(12).fill('Bearer'),
  ...['bearer', 'BEARER', 'bEaReR', 'Basic', 'DPoP', 'Token', 'Bearer:', 'Bearer,', '', 'Bearer Bearer'],
]
const SEPARATORS = [...Array(12).fill(' '), '  ', '\t', '', ',', ' \t', '=', ' "', '\xa0']
const CREDENTIALS = [
  ...Array(12).fill('TOKEN'),
  ...['TOKEN TOKEN', 'TOKEN,', 'TOKEN=', '"TOKEN"', 'TOKEN, Bearer TOKEN', 'token=TOKEN', ''],
]
const line = fc
  .tuple(
    pick(...SCHEMES),
    pick(...SEPARATORS),
    weighted([6, pick(...CREDENTIALS)], [1, byteString(8)]),
    edits([' ', ',', '"', '=', '\t', 'TOKEN', ';']),
  )
  .map(([scheme, separator, credentials, changes]) => edited(scheme + separator + credentials, changes))

const QUERIES = [
  ...'access_token=TOKEN a=1&access_token=x access%5ftoken=x %61ccess_token access_token xaccess_token=1'.split(' '),
]
const query = weighted([4, fc.constant('')], [1, editedBy(pick(...QUERIES), ['&', '=', '%5F', '+', '?', '#', '[]'])])

export default {
  name: 'header',
  title: 'Authorization headers',
  fixed: [],
  cases: fc.record({
    lines: fc.oneof(fc.tuple(line), fc.tuple(line), fc.tuple(line), fc.array(line, { maxLength: 3 })),
    query,
  }),
  stricter,
  lenient,
  isRefusal: (error) => ['missing_token', 'invalid_request', 'invalid_token'].includes(error.code),
  run({ lines, query }) {
    const text = query.replaceAll('TOKEN', TOKEN).replace(/[^!-~]|#/g, '')
    const requests = () => requestOf({ lines, query: text })
    return {
      input: { lines: requests().lines, query: text },
      ours: async () => (await guard.authenticate(requests())).accountId,
      peers: Object.fromEntries(Object.entries(PEERS).map(([name, check]) => [name, () => check(requests())])),
    }
  },
}
