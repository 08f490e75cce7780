import { createPublicKey, generateKeyPairSync, type JsonWebKey, randomUUID, verify } from 'node:crypto'
import express, { type RequestHandler } from 'express'
import { jwksRouter, requireBearer } from 'express-token-endpoint'
import { cli } from '../../support/cli.js'
import { ACCOUNTS, decodePayload, PASSWORD } from '../../support/fixtures.js'
import { listen } from '../../support/http.js'
import { privatePem } from '../../support/keys.js'
import { encode, headerOf, signatureOf } from '../../support/tokens.js'
import {
  altering,
  alteringResult,
  appOf,
  credulous,
  HERE,
  issuerOf,
  membersOf,
  oddTokens,
  PASSWORD_CHANGE,
  type Parts,
  pair,
  REPORTS,
  readingFirst,
  rewriting,
  STATEMENTS,
  soundParts,
  THERE,
} from './host.js'

interface Report {
  holds: boolean
  rows: { id: string; verdict: string; detail?: string }[]
}

const YEAR_AGO = Date.now() - 365 * 86_400_000
const expiredToken = issuerOf({ clock: () => YEAR_AGO }).issue({ accountId: ACCOUNTS.alice.id }).token
const tenMinutesAgo = new Date(Date.now() - 600_000)
const oldToken = issuerOf().issue({ accountId: ACCOUNTS.alice.id, issuedAt: tenMinutesAgo }).token

/** Checks an app, next to another environment with its own key. */
export async function check(parts: Parts, other: Parts = soundParts(foreignIssuer()), recent = true) {
  const [{ url }, { url: there }] = [await listen(appOf(parts)), await listen(appOf(other))]
  const guarded = [STATEMENTS, REPORTS].flatMap((path) => ['--guarded', path])
  const args = [
    'check',
    url,
    '--email',
    ACCOUNTS.alice.email,
    ...guarded,
    ...(recent ? ['--recent', PASSWORD_CHANGE] : []),
    '--other',
    there,
    '--json',
  ]
  const ran = await cli(args, {
    env: { CHECK_PASSWORD: PASSWORD, CHECK_EXPIRED_TOKEN: expiredToken, CHECK_OLD_TOKEN: oldToken },
  })
  const report = JSON.parse(ran.stdout) as Report
  const ids = (verdict: string) => report.rows.filter((row) => row.verdict === verdict).map(({ id }) => id)
  return { ...ran, report, fails: ids('fails'), skipped: ids('skipped') }
}

export function foreignIssuer() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return issuerOf({ issuer: THERE, keys: { alg: 'ES256', privateKey: privatePem(privateKey) } })
}

/** Changes only the responses to refused guarded requests. */
const alteringGuard = (change: (body: string, res: Parameters<RequestHandler>[1]) => string) =>
  altering((body, res) => (res.statusCode === 401 && res.req.path !== '/' ? change(body, res) : body))

const html = (res: Parameters<RequestHandler>[1]) => {
  res.setHeader('Content-Type', 'text/html')
  return '<h1>No</h1>'
}

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A guard that lets some requests pass. */
const unless =
  (passes: (req: Parameters<RequestHandler>[0]) => boolean, [guard]: RequestHandler[]): RequestHandler =>
  (req, res, next) =>
    passes(req) ? next() : guard?.(req, res, next)

const signedBy = (token: string, key: JsonWebKey) => {
  const [header, payload, signature = ''] = token.split('.')
  const how = { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', Buffer.from(`${header}.${payload}`), how, Buffer.from(signature, 'base64url'))
}

export type Plant = (sound: Parts) => Partial<Parts>

/** An app with one fault each: what fails of it, and nothing else. */
export const FAULTS: Record<string, [fails: readonly string[], plant: Plant]> = {
  'an account that is gone': [['login'], () => ({ accounts: () => null })],
  'a third member': [['members'], () => ({ before: [alteringResult((result) => ({ ...result, scope: 'x' }))] })],
  'a token that is a number': [
    ['members', 'token-header'],
    () => ({ before: [alteringResult((result) => ({ ...result, authenticationToken: 42 }))] }),
  ],
  'a token that is no JWT': [
    ['token-header', 'token-accepted'],
    () => ({ before: [alteringResult((result) => ({ ...result, authenticationToken: randomUUID() }))] }),
  ],
  'a token without a signature, which the guard takes': [
    ['token-header', 'token-signed', 'scheme-case', 'tampered'],
    (sound) => {
      const unsigned = (token = '') => token.replace(/[^.]*$/, '')
      const lets = credulous(sound, (token) => token.endsWith('.'))
      const strip = alteringResult((result) => ({
        ...result,
        authenticationToken: unsigned(result['authenticationToken']),
      }))
      return { ...lets, before: [strip] }
    },
  ],
  'an expiration without fractional seconds': [
    ['expiration-form'],
    () => ({
      before: [alteringResult((result) => ({ ...result, expiration: result['expiration']?.replace('.000Z', 'Z') }))],
    }),
  ],
  'an expiration of its own': [
    ['expiration-is-exp'],
    () => ({
      before: [alteringResult((result) => ({ ...result, expiration: new Date(4e12).toISOString() }))],
    }),
  ],
  'a token as text': [
    ['json-type'],
    () => ({
      before: [
        altering((body, res) => {
          if (body.startsWith('{"authenticationToken"')) res.setHeader('Content-Type', 'text/plain')
          return body
        }),
      ],
    }),
  ],
  'a middleware that lets everything be cached': [
    ['not-cached'],
    () => ({
      before: [
        altering((body, res) => {
          res.setHeader('Cache-Control', 'public, max-age=60')
          return body
        }),
      ],
    }),
  ],
  'an ETag': [
    ['no-etag'],
    () => ({
      before: [
        altering((body, res) => {
          if (res.statusCode === 200) res.setHeader('ETag', '"1"')
          return body
        }),
      ],
    }),
  ],
  'no forms': [
    ['form', 'repeated-field'],
    () => ({
      before: [
        (req, res, next) => {
          if (req.headers['content-type']?.includes('form')) res.sendStatus(415)
          else next()
        },
      ],
    }),
  ],
  'a cache in front': [
    ['two-tokens'],
    () => {
      let first: string | undefined
      return {
        before: [
          alteringResult((result) => {
            first ??= JSON.stringify(result)
            return JSON.parse(first)
          }),
        ],
      }
    },
  ],
  'a realm that is refused': [
    ['no-realm'],
    () => ({
      before: [
        readingFirst((body, _req, res) => {
          if ('realm' in membersOf(body)) res.sendStatus(400)
        }),
      ],
    }),
  ],
  'tokens of typ JWT': [['token-header'], () => soundParts(oddTokens({ header: { typ: 'JWT' } }))],
  'tokens without jti': [['token-claims'], () => soundParts(oddTokens({ claims: ({ jti: _, ...claims }) => claims }))],
  'tokens without client_id': [
    ['token-claims'],
    () => soundParts(oddTokens({ claims: ({ client_id: _, ...claims }) => claims })),
  ],
  'a route that accepts an old sign-in': [['recent-refused'], ({ tokens }) => ({ recent: requireBearer({ tokens }) })],
  'a route that accepts no sign-in at all': [
    ['recent-accepted', 'recent-refused'],
    () => ({ recent: (_req, res) => void res.sendStatus(401) }),
  ],
  'a challenge without max_age': [
    ['recent-refused'],
    ({ recent }) => ({
      recent: (req, res, next) => {
        const setHeader = res.setHeader.bind(res)
        res.setHeader = (name, value) => setHeader(name, String(value).replace(/, max_age="\d+"/, ''))
        recent(req, res, next)
      },
    }),
  ],
  'tokens that live for a month': [['lifetime'], () => soundParts(issuerOf({ lifetime: '30 days' }))],
  "the account's row in the token": [
    ['no-secret-in-token'],
    () => ({ accounts: () => ({ ...ACCOUNTS.alice, claims: { user: { hash: `$2b$10$${'x'.repeat(53)}` } } }) }),
  ],
  '401 for a wrong password': [
    ['wrong-password', 'password-exact'],
    () => ({
      before: [
        altering((body, res) => {
          if (res.statusCode === 403) res.statusCode = 401
          return body
        }),
      ],
    }),
  ],
  '403 with a body': [
    ['empty-403'],
    () => ({ before: [altering((body, { statusCode }) => (statusCode === 403 ? 'Forbidden' : body))] }),
  ],
  'a header for addresses that nobody has': [
    ['same-refusal'],
    () => ({
      before: [
        readingFirst((body, _req, res) => {
          if (/nobody\.invalid/.test(body)) res.setHeader('X-Hint', 'no such user')
        }),
      ],
    }),
  ],
  'a count of guesses that are left, for accounts alone': [
    ['same-refusal'],
    () => {
      let left = 10
      return {
        before: [
          readingFirst((body, _req, res) => {
            if (body.includes(ACCOUNTS.alice.email)) res.setHeader('X-Guesses-Left', left--)
          }),
        ],
      }
    },
  ],
  'passwords that are trimmed': [
    ['password-exact'],
    ({ passwords }) => {
      const place = async (limits: Parameters<NonNullable<typeof passwords.reserve>>[0]) => {
        const reserved = await passwords.reserve?.(limits)
        if (!reserved) throw new Error('no place')
        return {
          ...reserved,
          verify: (password: string, hash: string | null | undefined) => reserved.verify(password.trim(), hash),
        }
      }
      return { passwords: { ...passwords, reserve: place } }
    },
  ],
  'credentials from the query': [
    ['query-ignored'],
    () => ({ before: [readingFirst((_body, { query }) => ('email' in query ? { ...query } : undefined))] }),
  ],
  'credentials from the Authorization header': [
    ['header-ignored'],
    () => ({
      before: [
        readingFirst((_body, { headers }) => {
          const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
          if (!basic) return undefined
          const [email, password] = Buffer.from(basic, 'base64').toString().split(':')
          return { email, password }
        }),
      ],
    }),
  ],
  'a body parser that answers with HTML': [['problem', 'no-echo'], () => ({ before: [express.json()] })],
  'numbers that are taken for text': [
    ['missing-member'],
    () => ({
      before: [
        readingFirst((body) => {
          const { password, ...rest } = membersOf(body)
          return typeof password === 'number' ? { ...rest, password: String(password) } : undefined
        }),
      ],
    }),
  ],
  'forms whose last field counts': [
    ['repeated-field'],
    () => ({
      before: [
        readingFirst((body, { headers }) =>
          headers['content-type']?.includes('form') ? Object.fromEntries(new URLSearchParams(body)) : undefined,
        ),
      ],
    }),
  ],
  'forms of every site': [
    ['cross-site-form'],
    () => ({
      before: [
        (req, _res, next) => {
          for (const name of ['origin', 'sec-fetch-site']) delete req.headers[name]
          next()
        },
      ],
    }),
  ],
  'plain text that is taken for a form': [
    ['media-type'],
    () => ({
      before: [
        (req, _res, next) => {
          if (req.headers['content-type'] === 'text/plain') {
            req.headers['content-type'] = 'application/x-www-form-urlencoded'
          }
          next()
        },
      ],
    }),
  ],
  'a proxy with a limit of its own': [
    ['problem'],
    () => ({
      before: [
        (req, res, next) => {
          if (Number(req.headers['content-length']) > 1_000_000) res.status(413).send(html(res))
          else next()
        },
      ],
    }),
  ],
  'HTML for another method': [
    ['problem'],
    () => ({ before: [altering((body, res) => (res.statusCode === 405 ? html(res) : body))] }),
  ],
  '405 without Allow': [
    ['methods'],
    () => ({
      before: [
        altering((body, res) => {
          res.removeHeader('Allow')
          return body
        }),
      ],
    }),
  ],
  'a preflight that falls over': [
    ['options'],
    () => ({
      before: [
        (req, res, next) => {
          if (req.method === 'OPTIONS') res.sendStatus(500)
          else next()
        },
      ],
    }),
  ],
  'a stack in the problem': [
    ['no-echo'],
    () => ({
      before: [
        altering((body, { statusCode }) =>
          statusCode === 400
            ? JSON.stringify({ ...JSON.parse(body), stack: 'at parse (/srv/app/body.js:12:7)' })
            : body,
        ),
      ],
    }),
  ],
  'a route left unguarded': [['guarded'], ({ guards }) => ({ guards: [guards[0], []] })],
  'a guarded path that is not there': [
    ['guarded'],
    ({ guards }) => ({ guards: [guards[0], [(_req, res) => void res.sendStatus(404)]] }),
  ],
  'no challenge': [
    ['challenge', 'bad-token-code'],
    () => ({
      before: [
        alteringGuard((body, res) => {
          res.removeHeader('WWW-Authenticate')
          return body
        }),
      ],
    }),
  ],
  'an error code without a token': [
    ['challenge'],
    () => ({
      before: [
        alteringGuard((body, res) => {
          if (!res.req.headers.authorization) {
            res.setHeader('WWW-Authenticate', 'Bearer realm="x", error="invalid_token"')
          }
          return body
        }),
      ],
    }),
  ],
  'HTML from a guard': [['guard-problem'], () => ({ before: [alteringGuard((_body, res) => html(res))] })],
  'a guard that repeats the token': [
    ['guard-no-echo'],
    () => ({
      before: [
        alteringGuard((body, { req }) => JSON.stringify({ ...JSON.parse(body), got: req.headers.authorization })),
      ],
    }),
  ],
  'an account without the scope': [
    ['token-accepted'],
    ({ tokens }) => {
      const guard = requireBearer({ tokens, scope: 'admin' })
      return { guards: [[guard], [guard]] }
    },
  ],
  'a scheme in one case alone': [
    ['scheme-case'],
    ({ guards }) => {
      const strict = rewriting((header) => (header && !header.startsWith('B') ? 'Bearer x' : header))
      return { guards: [[strict, ...guards[0]], guards[1]] }
    },
  ],
  'a server error for a long token': [
    ['bad-token'],
    () => ({
      before: [
        (req, res, next) => {
          if ((req.headers.authorization ?? '').length > 4000) res.sendStatus(500)
          else next()
        },
      ],
    }),
  ],
  'another error code': [
    ['bad-token-code'],
    () => ({
      before: [
        alteringGuard((body, res) => {
          const challenge = String(res.getHeader('WWW-Authenticate'))
          res.setHeader('WWW-Authenticate', challenge.replace('invalid_token', 'invalid_grant'))
          return body
        }),
      ],
    }),
  ],
  'the first of two tokens in a header': [
    ['malformed-header'],
    ({ guards }) => {
      const first = rewriting((header) => header?.replace(/^(Bearer \S+) .+/, '$1'))
      return { guards: [[first, ...guards[0]], guards[1]] }
    },
  ],
  'the first of two headers': [
    ['two-headers'],
    ({ guards }) => {
      // A header that is the same in other words, so that it is put in the place of all.
      const first = rewriting((header) => header?.replace(/^Bearer /, 'Bearer  '))
      return { guards: [[first, ...guards[0]], guards[1]] }
    },
  ],
  'a token from the query': [
    ['query-token'],
    ({ guards }) => {
      const query = rewriting((header, req) => {
        const token = header === undefined ? req.query['access_token'] : undefined
        if (typeof token !== 'string') return header
        req.url = req.path
        return `Bearer ${token}`
      })
      return { guards: [guards[0], [query, ...guards[1]]] }
    },
  ],
  'a query that goes unseen': [
    ['one-method'],
    ({ guards }) => {
      const blind: RequestHandler = (req, _res, next) => {
        req.url = req.path
        next()
      }
      return { guards: [guards[0], [blind, ...guards[1]]] }
    },
  ],
  'a guard that verifies nothing': [
    [
      'tampered',
      'alg-none',
      'own-key',
      'key-confusion',
      'blank-key',
      'blank-signature',
      'spelling',
      'expired',
      'foreign-token',
    ],
    (sound) => credulous(sound, () => true),
  ],
  'a guard that takes alg none': [
    ['alg-none'],
    (sound) => credulous(sound, (token) => headerOf(token)['alg'] === 'nOnE'),
  ],
  "a guard that takes the token's own key": [
    ['own-key'],
    (sound) =>
      credulous(sound, (token) => 'jwk' in headerOf(token) && signedBy(token, headerOf(token)['jwk'] as JsonWebKey)),
  ],
  'a guard that takes its public key for a secret': [
    ['key-confusion'],
    (sound) => {
      const pem = pair.publicKey.export({ type: 'spki', format: 'pem' })
      return credulous(sound, (token) => {
        const [header, payload, signature] = token.split('.')
        return encode(signatureOf(`${header}.${payload}`, pem)) === signature
      })
    },
  ],
  'a guard that reads base64 carelessly': [
    ['spelling'],
    (sound) =>
      credulous(
        sound,
        (token) =>
          headerOf(token)['alg'] === 'ES256' &&
          signedBy(token, pair.publicKey.export({ format: 'jwk' })) &&
          decodePayload(token)['iss'] === HERE &&
          token !== expiredToken,
      ),
  ],
  'a guard without a clock': [['expired'], (sound) => credulous(sound, (token) => token === expiredToken)],
  "a guard that takes another environment's tokens": [
    ['foreign-token'],
    (sound) => credulous(sound, (token) => decodePayload(token)['iss'] === THERE),
  ],
  'private keys for all to see': [
    ['jwks-public', 'jwks-signature'],
    ({ keys }) => ({
      keys,
      before: [
        altering((body) => {
          if (!body.startsWith('{"keys"')) return body
          const { keys } = JSON.parse(body)
          return JSON.stringify({ keys: [{ ...keys[0], ...pair.privateKey.export({ format: 'jwk' }) }] })
        }),
      ],
    }),
  ],
  'keys that are kept for ever': [
    ['jwks-cache'],
    () => ({
      before: [
        altering((body, res) => {
          if (body.startsWith('{"keys"')) res.removeHeader('Cache-Control')
          return body
        }),
      ],
    }),
  ],
  'a body above the limit that is a server error': [
    ['body-too-large'],
    () => ({
      before: [
        (req, res, next) => {
          if (Number(req.headers['content-length']) > 1_000_000) res.sendStatus(500)
          else next()
        },
      ],
    }),
  ],
  'malformed JSON that is a server error': [
    ['malformed-json'],
    () => ({
      before: [
        readingFirst((body, { headers }, res) => {
          if (headers['content-type'] === 'application/json' && !isJson(body)) res.sendStatus(500)
        }),
      ],
    }),
  ],
  'an object that is taken for a password': [
    ['object-password'],
    () => ({
      before: [
        readingFirst((body) => {
          const { password, ...rest } = membersOf(body)
          return typeof password === 'object' ? { ...rest, password: PASSWORD } : undefined
        }),
      ],
    }),
  ],
  'every origin with credentials': [
    ['cross-origin'],
    () => ({
      before: [
        (req, res, next) => {
          if (req.headers.origin) {
            res.set({
              'Access-Control-Allow-Origin': req.headers.origin,
              'Access-Control-Allow-Credentials': 'true',
            })
          }
          next()
        },
      ],
    }),
  ],
  'a secret from a web page': [
    ['guessable-secret'],
    () => {
      const secret = 'a-string-secret-at-least-256-bits-long'
      const tokens = issuerOf({ keys: { alg: 'HS256', secret } })
      const guard = requireBearer({ tokens })
      return { tokens, guards: [[guard], [guard]], keys: (_req, _res, next) => next() }
    },
  ],
  'a hash in the response': [
    ['members', 'no-secret-in-answer'],
    () => ({
      before: [alteringResult((result) => ({ ...result, passwordHash: `$2b$10$${'x'.repeat(53)}` }))],
    }),
  ],
  'a guard that reads the key from a file that the token names': [
    ['blank-key'],
    (sound) =>
      credulous(sound, (token) => {
        const [header, payload, signature] = token.split('.')
        const blank = String(headerOf(token)['kid']).endsWith('/dev/null')
        return blank && encode(signatureOf(`${header}.${payload}`, '')) === signature
      }),
  ],
  'a guard that takes a signature of zeros': [
    ['blank-signature'],
    (sound) => credulous(sound, (token) => /\.A+$/.test(token)),
  ],
  'a guard that compares the path in one spelling': [
    ['other-spelling'],
    ({ guards }) => ({ guards: [guards[0], [unless((req) => req.path !== REPORTS, guards[1])]] }),
  ],
  'a guard that believes a proxy': [
    ['trusted-header'],
    ({ guards }) => ({ guards: [guards[0], [unless((req) => 'x-remote-user' in req.headers, guards[1])]] }),
  ],
  'a guard for GET alone': [
    ['other-method'],
    ({ guards }) => ({ guards: [guards[0], [unless((req) => req.method !== 'GET', guards[1])]] }),
  ],
  "somebody else's keys": [['jwks-signature'], () => ({ keys: jwksRouter({ tokens: foreignIssuer() }) })],
}
