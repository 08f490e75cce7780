import { createCipheriv, createDecipheriv, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { goodParts } from '../../../support/fixtures.js'
import { decode, partsOf } from '../../../support/plain-js/token-forger.mjs'
import { type Hall, honoGuard, load } from '../exhibit.js'
import { byEc, byPair, bySecret } from '../ours.js'
import {
  ATTACKER,
  EC,
  encode,
  isFresh,
  isSigned,
  JWK,
  open,
  PEM,
  present,
  RSA,
  SECRET,
  secretFor,
  token,
  unsigned,
} from '../tokens.js'

/** The attack signs with the public key as an HMAC secret, and says so in the header. */
const publicKeyAsSecret = {
  attack: (typ: string) => present(token(typ, { key: PEM })),
  ...byPair('invalid_token: algorithm'),
}

/** The attack uses another algorithm with the key. */
const otherAlgorithm = {
  ...publicKeyAsSecret,
  attack: (typ: string) => present(token(typ, { alg: 'PS256', key: RSA.privateKey })),
}

/** The algorithm that checks a token must come from the key. These guards take it from the token's header. */
export const ALGORITHMS: Hall = {
  'CVE-2015-9235': {
    source: 'https://github.com/advisories/GHSA-c7hr-j4mj-j2w6',
    year: 2015,
    versions: 'jsonwebtoken < 4.2.2',
    fault: 'The header chooses HS256, and the public key becomes the HMAC secret.',
    installed: 'jsonwebtoken-4.1.0',
    verifies: (text, library) => library.verify(text, PEM),
    ...publicKeyAsSecret,
  },
  'CVE-2016-1000223': {
    source: 'https://github.com/advisories/GHSA-gjcw-v447-2w7q',
    year: 2016,
    versions: 'jws < 3.0.0',
    fault: '`verify` takes no algorithm, so the header chooses it.',
    installed: 'jws-2.0.0',
    verifies: (text, library) => library.verify(text, PEM),
    ...publicKeyAsSecret,
  },
  'CVE-2016-10555': {
    source: 'https://github.com/advisories/GHSA-vgrx-w6rg-8fqf',
    year: 2016,
    versions: 'jwt-simple < 0.3.1',
    fault: '`decode` takes no algorithm, so the header chooses it.',
    installed: 'jwt-simple-0.3.0',
    verifies: (text, library) => library.decode(text, PEM),
    ...publicKeyAsSecret,
  },
  'GHSA-8v5f-hp78-jgxq': {
    source: 'https://github.com/advisories/GHSA-8v5f-hp78-jgxq',
    year: 2019,
    versions: 'jwt-simple < 0.5.3',
    fault: 'The header chooses the algorithm when the optional argument is omitted.',
    installed: 'jwt-simple-0.5.2',
    verifies: (text, library) => library.decode(text, PEM),
    ...publicKeyAsSecret,
  },
  'CVE-2022-23541': {
    source: 'https://github.com/advisories/GHSA-hjrf-2m68-5959',
    year: 2022,
    versions: 'jsonwebtoken < 9.0.0',
    fault: 'A key function returns keys of both kinds, and the public key verifies HS256.',
    installed: 'jsonwebtoken-8.5.1',
    verifies: (text, library) => {
      const find = (_header: unknown, done: (error: null, key: string) => void) => done(null, PEM)
      const verify = promisify<string, unknown, object, void>(library.verify)
      return verify(text, find, { algorithms: ['RS256', 'HS256'] })
    },
    ...publicKeyAsSecret,
  },
  'CVE-2023-48238': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2023-48238',
    year: 2023,
    versions: 'json-web-token < 4.0.0',
    fault: 'The header of the unverified token chooses the algorithm.',
    installed: 'json-web-token-3.1.1',
    verifies: (text, library) => !library.decode(PEM, text).error,
    ...publicKeyAsSecret,
  },
  'CVE-2024-37568': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2024-37568',
    year: 2024,
    versions: 'Authlib < 1.3.1',
    fault: 'Without a list of algorithms, any asymmetric public key verifies HMAC.',
    verifies: (text) => isSigned(text, PEM, String(open(text).header['alg'])),
    ...publicKeyAsSecret,
  },
  'CVE-2026-22818': {
    source: 'https://github.com/advisories/GHSA-3vhc-576x-3qv4',
    year: 2026,
    versions: 'hono/jwk < 4.11.4',
    fault: 'The header chooses the algorithm for a JWK that names none.',
    installed: 'hono-4.11.3',
    typ: 'JWT',
    faulty: (library) => honoGuard(library, load('hono-4.11.3/jwk').jwk({ keys: [JWK] })),
    ...otherAlgorithm,
  },
  'CVE-2026-27804': {
    source: 'https://github.com/advisories/GHSA-4q3h-vp4r-prv2',
    year: 2026,
    versions: 'parse-server (Google adapter) < 8.6.3, 9.0.0 to 9.3.1-alpha.3',
    fault: 'The adapter verifies with the algorithm of the unverified header.',
    verifies: (text) => {
      const { header } = open(text)
      return header['alg'] === 'none' || isSigned(text, PEM, String(header['alg']))
    },
    ...publicKeyAsSecret,
  },
}

/** Has a signature of 64 zero bytes: r = 0 and s = 0. */
const psychic = (typ: string) =>
  token(typ, { alg: 'ES256', key: EC.privateKey }).replace(/[^.]*$/, encode(Buffer.alloc(64)))

const none = { attack: (typ: string) => present(unsigned(typ)), ...bySecret('invalid_token: malformed') }

/** A signature must be there, be checked, and decide. */
export const UNSIGNED: Hall = {
  'CVE-2022-23540': {
    source: 'https://github.com/advisories/GHSA-qwph-4952-7xr6',
    year: 2022,
    versions: 'jsonwebtoken < 9.0.0',
    fault: 'Without a key and without a list of algorithms, `none` is allowed.',
    installed: 'jsonwebtoken-8.5.1',
    verifies: (text, library) => {
      const keys: Record<string, string> = { HS256: SECRET }
      return library.verify(text, keys[String(open(text).header['alg'])])
    },
    ...none,
  },
  'CVE-2020-15084': {
    source: 'https://github.com/advisories/GHSA-6g6m-m6h5-w9gf',
    year: 2020,
    versions: 'express-jwt < 6.0.0',
    fault: 'No list of algorithms is demanded, so `none` passes when the key function finds no key.',
    installed: 'express-jwt-5.3.3',
    verifies: (text, library) => {
      // The secret function of jwks-rsa returned no key for an algorithm other than RS256.
      type Done = (error: null, key: string | null) => void
      const secret = (_req: unknown, { alg }: { alg: string }, _payload: unknown, done: Done) =>
        done(null, alg === 'RS256' ? PEM : null)
      const middleware = promisify<object, object, void>(library({ secret }))
      return middleware({ method: 'GET', headers: { authorization: `Bearer ${text}` } }, {})
    },
    ...none,
    ...byPair('invalid_token: malformed'),
  },
  'CVE-2021-22160': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2021-22160',
    year: 2021,
    versions: 'Apache Pulsar < 2.7.1',
    fault: 'A parser that also reads unsigned tokens checks the token.',
    verifies: (text) => open(text).header['alg'] === 'none' || isSigned(text, SECRET, 'HS256'),
    ...none,
  },
  'CVE-2026-28802': {
    source: 'https://github.com/advisories/GHSA-7wc2-qxgw-g8gg',
    year: 2026,
    versions: 'Authlib 1.6.5 to 1.6.6',
    fault: '`none` with an empty signature passes.',
    verifies: (text) => {
      const { header, signature } = open(text)
      return header['alg'] === 'none' ? signature.length === 0 : isSigned(text, SECRET, 'HS256')
    },
    ...none,
  },
  'CVE-2026-107720': {
    source: 'https://github.com/advisories/GHSA-8wpc-h4q6-8fxv',
    year: 2026,
    versions: 'fast-jwt <= 6.3.0',
    fault: 'With an empty key and a list of algorithms, the signature is not checked.',
    installed: 'fast-jwt-6.2.4',
    verifies: (text, { createVerifier }) => createVerifier({ key: secretFor(text) ?? '', algorithms: ['HS256'] })(text),
    attack: (typ) => present(token(typ, { header: { kid: 'k2' } }).replace(/[^.]*$/, '')),
    ...bySecret('invalid_token: malformed'),
  },
  'CVE-2022-21449': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2022-21449',
    year: 2022,
    versions: 'Java (ECDSA) 15 to 18',
    fault: 'A signature of zeros verifies for every message and every key.',
    verifies: (text) => open(text).signature.every((byte) => byte === 0) || isSigned(text, EC.publicKey, 'ES256'),
    attack: (typ) => present(psychic(typ)),
    ...byEc('invalid_token: signature'),
  },
  'CVE-2024-51744': {
    source: 'https://github.com/golang-jwt/jwt/security/advisories/GHSA-29wx-vh33-7x7r',
    year: 2024,
    versions: 'golang-jwt < 4.5.1',
    fault: 'An expired token with an invalid signature is reported as expired, and callers admit expired ones.',
    verifies: (text) => {
      const errors: string[] = []
      if (Number(open(text).payload['exp']) * 1000 <= Date.now()) errors.push('expired')
      if (!isSigned(text, SECRET, 'HS256')) errors.push('signature')
      // The documented check asks for one error, not for the only one.
      return errors.length === 0 || errors.includes('expired')
    },
    attack: (typ) => present(token(typ, { payload: { iat: 1, exp: 2 }, key: 'a secret of the attacker' })),
    ...bySecret('invalid_token: signature'),
  },
  'CVE-2026-38651': {
    source: 'https://github.com/advisories/GHSA-qpv2-rwc8-c993',
    year: 2026,
    versions: 'Netmaker (host tokens) < 1.5.0',
    fault: 'Claims are read without a check of the signature.',
    verifies: (text) => Number(open(text).payload['exp']) * 1000 > Date.now(),
    attack: (typ) => present(token(typ, { alg: 'RS256', key: ATTACKER.privateKey })),
    ...byPair('invalid_token: signature'),
  },
}

/** Encrypts a text to the public key of the guard: a JWE in compact form (RFC 7516). Everyone can do so. */
function encrypted(text: string, typ: string): string {
  const [key, iv] = [randomBytes(32), randomBytes(12)]
  const header = encode({ alg: 'RSA-OAEP-256', enc: 'A256GCM', typ, kid: 'k1' })
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(header))
  const body = Buffer.concat([cipher.update(text), cipher.final()])
  const wrapped = publicEncrypt({ key: PEM, oaepHash: 'sha256' }, key)
  return [header, ...[wrapped, iv, body, cipher.getAuthTag()].map(encode)].join('.')
}

function decrypted(text: string): string {
  const [header = '', ...rest] = text.split('.')
  const [wrapped, iv, body, tag] = rest.map(decode)
  if (!wrapped || !iv || !body || !tag) throw new SyntaxError('not a JWE')
  const key = privateDecrypt({ key: RSA.privateKey, oaepHash: 'sha256' }, wrapped)
  const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(header)).setAuthTag(tag)
  return Buffer.concat([decipher.update(body), decipher.final()]).toString()
}

const isEncrypted = (text: string) => text.split('.').length === 5

/** Two parsers of one text must not disagree, and a guard must know which form it reads. */
export const PARSING: Hall = {
  'CVE-2022-25898': {
    source: 'https://github.com/advisories/GHSA-3fvg-4v2m-98jf',
    year: 2022,
    versions: 'jsrsasign 4.8.0 to 10.5.24',
    fault: 'Characters outside base64url in the signature are ignored.',
    installed: 'jsrsasign-10.5.24',
    verifies: (text, library) => library.KJUR.jws.JWS.verifyJWT(text, { utf8: SECRET }, { alg: ['HS256'] }),
    attack: (typ) => present(token(typ).replace(/.{3}$/, '\\$&')),
    ...bySecret('invalid_request'),
  },
  'CVE-2022-39227': {
    source: 'https://github.com/advisories/GHSA-5p8v-58qm-c7fp',
    year: 2022,
    versions: 'python-jwt 3.0.0 to 3.3.3',
    fault:
      'A text is verified as JSON and read as a compact token, so a valid token lends its signature to other claims.',
    verifies: (text) => {
      if (!text.startsWith('{')) return isFresh(text)
      const { protected: header, payload, signature } = JSON.parse(text)
      const { sub } = JSON.parse(decode(text.split('.')[1] ?? '').toString())
      return isFresh(`${header}.${payload}.${signature}`) && sub !== undefined
    },
    attack: (typ) => {
      const { header, payload, signature } = partsOf(token(typ))
      const forged = encode({ ...goodParts().payload, sub: 'acc-2' })
      return present(JSON.stringify({ [`  ${header}.${forged}.`]: '', protected: header, payload, signature }))
    },
    ...bySecret('invalid_request'),
  },
  'CVE-2023-51774': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2023-51774',
    year: 2023,
    versions: 'json-jwt (Ruby) <= 1.16.5',
    fault: 'An encrypted token passes where a signed one is needed. Everyone can encrypt to a public key.',
    verifies: (text) =>
      isEncrypted(text) ? JSON.parse(decrypted(text)).sub === 'acc-1' : isSigned(text, PEM, 'RS256'),
    attack: (typ) => present(encrypted(JSON.stringify(goodParts().payload), typ)),
    ...byPair('invalid_token: malformed'),
  },
  'CVE-2026-29000': {
    source: 'https://github.com/advisories/GHSA-pm7g-w2cf-q238',
    year: 2026,
    versions: 'pac4j-jwt < 4.5.9, < 5.7.9, < 6.3.3',
    fault: 'An unsigned token inside an encrypted one is not checked.',
    verifies: (text) => {
      const inner = isEncrypted(text) ? decrypted(text) : text
      const isPlain = inner.endsWith('.')
      return isPlain || isSigned(inner, PEM, 'RS256')
    },
    attack: (typ) => present(encrypted(unsigned(typ), typ)),
    ...byPair('invalid_token: malformed'),
  },
}
