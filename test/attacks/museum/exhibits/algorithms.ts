import type { Exhibit } from '../exhibit.js'
import { ourPairGuard } from '../ours.js'
import { guardOf, load } from '../packages.js'
import { isSigned, JWK, open, PEM, present, RSA, token, validPair } from '../tokens.js'

/** The attack signs with the public key as an HMAC secret, and says so in the header. */
const publicKeyAsSecret = {
  attack: (typ: string) => present(token(typ, { key: PEM })),
  control: validPair,
  ours: ourPairGuard,
  refusal: 'invalid_token: algorithm',
}

/** The attack uses another algorithm with the key. */
const otherAlgorithm = {
  ...publicKeyAsSecret,
  attack: (typ: string) => present(token(typ, { alg: 'PS256', key: RSA.privateKey })),
}

/** The algorithm that checks a token must come from the key. These guards take it from the token's header. */
export const ALGORITHMS: Exhibit[] = [
  {
    id: 'CVE-2015-9235',
    fault: 'The header chooses HS256, and the public key becomes the HMAC secret.',
    installed: 'jsonwebtoken-4.1.0',
    faulty: () => guardOf((text) => load('jsonwebtoken-4.1.0').verify(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2016-1000223',
    fault: '`verify` takes no algorithm, so the header chooses it.',
    installed: 'jws-2.0.0',
    faulty: () => guardOf((text) => load('jws-2.0.0').verify(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2016-10555',
    fault: '`decode` takes no algorithm, so the header chooses it.',
    installed: 'jwt-simple-0.3.0',
    faulty: () => guardOf((text) => load('jwt-simple-0.3.0').decode(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'GHSA-8v5f-hp78-jgxq',
    fault: 'The header chooses the algorithm when the optional argument is omitted.',
    installed: 'jwt-simple-0.5.2',
    faulty: () => guardOf((text) => load('jwt-simple-0.5.2').decode(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2022-23541',
    fault: 'A key function returns keys of both kinds, and the public key verifies HS256.',
    installed: 'jsonwebtoken-8.5.1',
    faulty: () =>
      guardOf(
        (text) =>
          new Promise((resolve, reject) => {
            const find = (_header: unknown, done: (error: null, key: string) => void) => done(null, PEM)
            const end = (error: unknown, claims: unknown) => (error ? reject(error) : resolve(claims))
            load('jsonwebtoken-8.5.1').verify(text, find, { algorithms: ['RS256', 'HS256'] }, end)
          }),
      ),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2023-48238',
    fault: 'The header of the unverified token chooses the algorithm.',
    installed: 'json-web-token-3.1.1',
    faulty: () =>
      guardOf((text) => {
        const { error } = load('json-web-token-3.1.1').decode(PEM, text)
        return !error
      }),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2024-37568',
    fault: 'Without a list of algorithms, any asymmetric public key verifies HMAC.',
    faulty: () => guardOf((text) => isSigned(text, PEM, String(open(text).header['alg']))),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2026-22818',
    fault: 'The header chooses the algorithm for a JWK that names none.',
    installed: 'hono-4.11.3',
    typ: 'JWT',
    faulty: () => {
      const { Hono } = load('hono-4.11.3')
      const { jwk } = load('hono-4.11.3/jwk')
      const app = new Hono().get('/', jwk({ keys: [JWK] }), (c: { text(body: string): Response }) => c.text('in'))
      return guardOf(async (text) => {
        const { status } = await app.request('/', { headers: { Authorization: `Bearer ${text}` } })
        return status === 200
      })
    },
    ...otherAlgorithm,
  },
  {
    id: 'CVE-2026-27804',
    fault: 'The adapter verifies with the algorithm of the unverified header.',
    faulty: () =>
      guardOf((text) => {
        const { header } = open(text)
        return header['alg'] === 'none' || isSigned(text, PEM, String(header['alg']))
      }),
    ...publicKeyAsSecret,
  },
]
