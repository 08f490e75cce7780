import { createHmac } from 'node:crypto'
import { isPlainObject, parseJson } from '../../../options/values.js'
import { isSignedBy } from '../../../tokens/jwt/signature.js'
import { readJwkSet } from '../../../tokens/keys/jwk-set.js'
import { type CheckedApp, otherOf, type ReadToken, those } from '../app.js'
import { isSuccess, mustBe } from '../response.js'
import type { Row, Rows } from '../row.js'
import { must, mustAll, needed, Unjudged } from '../verdict.js'

const DAY = 86_400
/** The allowed difference between the clocks, in seconds. */
const SKEW = 60
/** Secrets of documentation that are long enough for an issuer. */
const EXAMPLES = [
  'a-string-secret-at-least-256-bits-long',
  'a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long',
  'better-auth-secret-12345678901234567890',
]
/** The private members of a JWK (RFC 7518 sections 6.2.2, 6.3.2 and 6.4). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** Rows about the token, its keys, and tokens that must be refused. */
export const tokenRows: Rows = {
  lifetime: {
    title: 'the token is valid immediately, for at most a day',
    source: 'OWASP ASVS 5, 9.2.1; RFC 6750 section 5.3',
    async run({ live, jwt }) {
      const { iat, exp } = (await jwt()).claims
      const life = Number(exp) - Number(iat)
      must(life > 0 && life <= DAY, `its lifetime is ${life} seconds`)
      const date = Date.parse((await live()).headers.date ?? '') / 1000
      const off = Number.isNaN(date) ? 0 : Math.round(Number(iat) - date)
      must(Math.abs(off) <= SKEW, `iat is ${off} seconds from the Date of the response`)
    },
  },
  'guessable-secret': {
    title: "the token's secret is not an example from documentation",
    source: 'RFC 8725 section 3.5; OWASP ASVS 5, 13.3.1',
    async run({ jwt }) {
      const { alg, signed, signature } = await jwt()
      const hash = /^HS(256|384|512)$/.exec(String(alg))?.[1]
      if (!hash) throw new Unjudged('the token is not signed with a secret')
      const isSecret = (key: Buffer) => createHmac(`sha${hash}`, key).update(signed).digest().equals(signature)
      const isExample = EXAMPLES.some((text) => isSecret(Buffer.from(text)) || isSecret(Buffer.from(text, 'base64')))
      must(!isExample, 'the secret is one of the well-known examples, so anyone can sign tokens')
    },
  },
  'no-secret-in-token': {
    title: 'the token does not contain a password or a password hash',
    source: 'RFC 7519 section 12; OWASP ASVS 5, 14.2.6',
    async run({ jwt, credentials }) {
      const values = textsIn((await jwt()).claims)
      must(!values.includes(credentials.password), 'a claim is the password')
      must(!values.some(isHash), 'a claim is the hash of a password')
    },
  },
  tampered: {
    title: 'a modified token is refused with 401',
    source: 'RFC 8725 section 3.3; OWASP ASVS 5, 9.1.1',
    run: refuses(async ({ jwt }) => tamperedWith(await jwt())),
  },
  expired: {
    title: 'an expired token is refused with 401',
    source: 'docs/reference/http.md section 10; OWASP ASVS 5, 9.2.1',
    run: refuses(async ({ target: { expiredToken } }) => ({
      'an expired token': needed(expiredToken, 'set CHECK_EXPIRED_TOKEN to a token of this app that has expired'),
    })),
  },
  'foreign-token': {
    title: 'a token from a different environment is refused with 401',
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    run: refuses(async ({ target, tokenOfOther }) => ({
      "another environment's token": target.foreignToken ?? (await tokenOfOther()),
    })),
  },
  'token-abroad': {
    title: 'a different environment refuses the token with 401',
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    async run({ target, tokenOfOther, token, askWith }) {
      const [there, text] = [await tokenOfOther(), await token()]
      // A path that refuses the token from there proves nothing.
      const opened = await those(
        otherOf(target).guarded,
        async (path) => isSuccess(await askWith(path, there)),
        'of the other environment accepts its own token',
      )
      await mustAll(opened, async (path) =>
        mustBe(401, await askWith(path, text), 'there, the token of this environment'),
      )
    },
  },
  'jwks-public': {
    title: 'the key set contains only public keys',
    source: 'RFC 7517 section 9.2',
    async run(app) {
      const keys = await publishedKeys(app)
      must(keys, 'the response is not a key set')
      for (const jwk of keys) {
        const secret = isPlainObject(jwk) ? PRIVATE_MEMBERS.filter((name) => Object.hasOwn(jwk, name)) : []
        must(secret.length === 0, `a key shows its private members: ${secret.join(', ')}`)
      }
    },
  },
  'jwks-cache': {
    title: 'the key set can be cached for at most a day',
    source: 'RFC 9111 section 4.2.2',
    async run(app) {
      needed(await publishedKeys(app), 'there is no key set')
      const control = (await app.responses.keys()).headers['cache-control'] ?? ''
      const seconds = /\bno-(store|cache)\b/i.test(control) ? 0 : Number(/\bmax-age=(\d+)/i.exec(control)?.[1])
      must(seconds <= DAY, 'Cache-Control names no max-age of at most a day')
    },
  },
  'jwks-signature': {
    title: "the token's kid identifies the key in the set that signed it",
    source: 'RFC 7515 section 5.2; OWASP ASVS 5, 9.1.1',
    async run(app) {
      const token = await app.jwt()
      if (String(token.alg).startsWith('HS'))
        throw new Unjudged('the token is signed with a secret, not with a key pair')
      needed(await publishedKeys(app), 'there is no key set')
      const key = readJwkSet((await app.responses.keys()).body).get(String(token.kid))
      must(key, "the token's kid is not in the key set")
      must(isSignedBy(token, key), 'the signature does not match the key')
    },
  },
}

/** Creates the run of a row whose tokens must be refused. Each has a name in the report. */
function refuses(tokensOf: (app: CheckedApp) => Promise<Readonly<Record<string, string>>>): Row['run'] {
  return async (app) => {
    for (const [what, token] of Object.entries(await tokensOf(app))) {
      await mustAll(await app.paths.guarded(), async (path) => mustBe(401, await app.askWith(path, token), what))
    }
  }
}

/** Returns the token with another payload, with other bits in its signature, and without its signature. */
function tamperedWith({ claims, signed, signature }: ReadToken): Record<string, string> {
  const payload = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url')
  const flipped = Buffer.from(signature)
  flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0)
  return {
    'a token with another sub': `${signed.split('.')[0]}.${payload}.${signature.toString('base64url')}`,
    'a token with another signature': `${signed}.${flipped.toString('base64url')}`,
    'a token without its signature': `${signed}.`,
  }
}

/** Returns whether a text is a hash of argon2, bcrypt, scrypt, PBKDF2 as Django writes it, or crypt. */
const isHash = (value: string) =>
  /^(\$(argon2|2[abxy]?\$|scrypt|pbkdf2|[156]\$|7\$)|(pbkdf2|bcrypt|scrypt)_?\w*\$)/.test(value)

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return isPlainObject(value) || Array.isArray(value) ? Object.values(value).flatMap(textsIn) : []
}

/** Returns the keys of the set, or undefined when the response is not a key set. */
async function publishedKeys({ responses, urlOf }: CheckedApp): Promise<unknown[] | undefined> {
  const { status, body } = await responses.keys()
  if (status === 404) throw new Unjudged(`there is no key set at ${urlOf('listTokenKeys').pathname}`)
  const set = status === 200 ? parseJson(body) : undefined
  return isPlainObject(set) && Array.isArray(set['keys']) ? set['keys'] : undefined
}
