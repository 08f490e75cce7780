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
    year: 2015,
    project: 'jsonwebtoken',
    versions: '< 4.2.2',
    fault: 'The header chooses HS256, and the public key becomes the HMAC secret.',
    source: 'https://github.com/advisories/GHSA-c7hr-j4mj-j2w6',
    installed: 'jsonwebtoken-4.1.0',
    faulty: () => guardOf((text) => load('jsonwebtoken-4.1.0').verify(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2016-1000223',
    year: 2016,
    project: 'jws',
    versions: '< 3.0.0',
    fault: '`verify` takes no algorithm, so the header chooses it.',
    source: 'https://github.com/advisories/GHSA-gjcw-v447-2w7q',
    installed: 'jws-2.0.0',
    faulty: () => guardOf((text) => load('jws-2.0.0').verify(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2016-10555',
    year: 2016,
    project: 'jwt-simple',
    versions: '< 0.3.1',
    fault: '`decode` takes no algorithm, so the header chooses it.',
    source: 'https://github.com/advisories/GHSA-vgrx-w6rg-8fqf',
    installed: 'jwt-simple-0.3.0',
    faulty: () => guardOf((text) => load('jwt-simple-0.3.0').decode(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'GHSA-8v5f-hp78-jgxq',
    year: 2019,
    project: 'jwt-simple',
    versions: '< 0.5.3',
    fault: 'The header chooses the algorithm when the optional argument is omitted.',
    source: 'https://github.com/advisories/GHSA-8v5f-hp78-jgxq',
    installed: 'jwt-simple-0.5.2',
    faulty: () => guardOf((text) => load('jwt-simple-0.5.2').decode(text, PEM)),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2022-23541',
    year: 2022,
    project: 'jsonwebtoken',
    versions: '< 9.0.0',
    fault: 'A key function returns keys of both kinds, and the public key verifies HS256.',
    source: 'https://github.com/advisories/GHSA-hjrf-2m68-5959',
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
    year: 2023,
    project: 'json-web-token',
    versions: '< 4.0.0',
    fault: 'The header of the unverified token chooses the algorithm.',
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2023-48238',
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
    year: 2024,
    project: 'Authlib',
    versions: '< 1.3.1',
    fault: 'Without a list of algorithms, any asymmetric public key verifies HMAC.',
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2024-37568',
    faulty: () => guardOf((text) => isSigned(text, PEM, String(open(text).header['alg']))),
    ...publicKeyAsSecret,
  },
  {
    id: 'CVE-2026-22818',
    year: 2026,
    project: 'hono/jwk',
    versions: '< 4.11.4',
    fault: 'The header chooses the algorithm for a JWK that names none.',
    source: 'https://github.com/advisories/GHSA-3vhc-576x-3qv4',
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
    year: 2026,
    project: 'parse-server (Google adapter)',
    versions: '< 8.6.3, 9.0.0 to 9.3.1-alpha.3',
    fault: 'The adapter verifies with the algorithm of the unverified header.',
    source: 'https://github.com/advisories/GHSA-4q3h-vp4r-prv2',
    faulty: () =>
      guardOf((text) => {
        const { header } = open(text)
        return header['alg'] === 'none' || isSigned(text, PEM, String(header['alg']))
      }),
    ...publicKeyAsSecret,
  },
]
