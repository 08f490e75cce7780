import { forge } from '../../../support/fixtures.js'
import type { Exhibit } from '../exhibit.js'
import { ourSecretGuard } from '../ours.js'
import { guardOf, load } from '../packages.js'
import { ISSUER, isFresh, isSigned, open, present, SECRET, token, validSecret } from '../tokens.js'

const OTHER = 'https://other.example.com'

const claim = (payload: Record<string, unknown>) => ({
  attack: (typ: string) => present(token(typ, { payload })),
  control: validSecret,
  ours: ourSecretGuard,
})
const extension = {
  attack: (typ: string) => present(token(typ, { header: { crit: ['x-policy'], 'x-policy': 'require-mfa' } })),
  control: validSecret,
  ours: ourSecretGuard,
  refusal: 'invalid_token: critical_header',
}

/** The signature of each token here is valid. A claim or a header member makes the token invalid. */
export const CLAIMS: Exhibit[] = [
  {
    id: 'CVE-2020-26160',
    year: 2020,
    project: 'jwt-go',
    versions: '< 4.0.0-preview1',
    fault: 'An array as audience counts as a missing audience, which is allowed.',
    source: 'https://github.com/advisories/GHSA-w73w-5m7g-f7qc',
    faulty: () =>
      guardOf((text) => {
        const { aud } = open(text).payload
        const read = typeof aud === 'string' ? aud : ''
        return isFresh(text) && (read === '' || read === ISSUER)
      }),
    ...claim({ aud: [OTHER] }),
    refusal: 'invalid_token: claims',
  },
  {
    id: 'CVE-2023-22482',
    year: 2023,
    project: 'Argo CD',
    versions: '< 2.3.14, < 2.4.20, < 2.5.8',
    fault: 'The audience is not checked, so tokens for other services pass.',
    source: 'https://github.com/argoproj/argo-cd/security/advisories/GHSA-q9hr-j4rf-8fjc',
    faulty: () => guardOf((text) => isFresh(text) && open(text).payload['iss'] === ISSUER),
    ...claim({ aud: OTHER }),
    refusal: 'invalid_token: audience',
  },
  {
    id: 'CVE-2025-62610',
    year: 2025,
    project: 'hono/jwt',
    versions: '1.1.0 to 4.10.1',
    fault: 'The audience is not checked by default.',
    source: 'https://github.com/advisories/GHSA-m732-5p4w-x69g',
    installed: 'hono-4.10.1',
    typ: 'JWT',
    faulty: () => {
      const { Hono } = load('hono-4.10.1')
      const { jwt } = load('hono-4.10.1/jwt')
      const guard = jwt({ secret: SECRET, alg: 'HS256' })
      const app = new Hono().get('/', guard, (c: { text(body: string): Response }) => c.text('in'))
      return guardOf(async (text) => {
        const { status } = await app.request('/', { headers: { Authorization: `Bearer ${text}` } })
        return status === 200
      })
    },
    ...claim({ aud: OTHER }),
    refusal: 'invalid_token: audience',
  },
  {
    id: 'CVE-2024-53861',
    year: 2024,
    project: 'PyJWT',
    versions: '2.10.0',
    fault: 'An issuer that is a part of the expected issuer passes.',
    source: 'https://github.com/advisories/GHSA-75c5-xw7c-p5pm',
    faulty: () => guardOf((text) => isFresh(text) && ISSUER.includes(String(open(text).payload['iss']))),
    ...claim({ iss: ISSUER.slice(0, -2) }),
    refusal: 'invalid_token: issuer',
  },
  {
    id: 'CVE-2025-30144',
    year: 2025,
    project: 'fast-jwt',
    versions: '< 5.0.6',
    fault: 'An array of issuers passes when one of them is the expected one.',
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2025-30144',
    installed: 'fast-jwt-5.0.5',
    faulty: () => guardOf(load('fast-jwt-5.0.5').createVerifier({ key: SECRET, allowedIss: ISSUER })),
    ...claim({ iss: [OTHER, ISSUER] }),
    refusal: 'invalid_token: claims',
  },
  {
    id: 'CVE-2026-25537',
    year: 2026,
    project: 'jsonwebtoken (Rust)',
    versions: '< 10.3.0',
    fault: 'A time of the wrong type counts as missing, so it is not checked.',
    source: 'https://github.com/advisories/GHSA-h395-gr6q-cpjc',
    faulty: () =>
      guardOf((text) => {
        const { nbf, exp } = open(text).payload
        const now = Date.now() / 1000
        const isLater = (time: unknown, otherwise: boolean) => (typeof time === 'number' ? time > now : otherwise)
        return isSigned(text, SECRET, 'HS256') && isLater(exp, true) && !isLater(nbf, false)
      }),
    ...claim({ nbf: '99999999999' }),
    refusal: 'invalid_token: claims',
  },
  {
    id: 'GHSA-wxg7-w2v3-w38g',
    year: 2026,
    project: 'ZITADEL (JWT identity provider)',
    versions: '< 3.4.12, < 4.15.2',
    fault: '`exp` and `iat` are not checked.',
    source: 'https://github.com/zitadel/zitadel/security/advisories/GHSA-wxg7-w2v3-w38g',
    faulty: () => guardOf((text) => isSigned(text, SECRET, 'HS256') && open(text).payload['iss'] === ISSUER),
    ...claim({ iat: 1_500_000_000, exp: 1_500_003_600 }),
    refusal: 'invalid_token: expired',
  },
  {
    id: 'CVE-2026-107723',
    year: 2026,
    project: 'fast-jwt',
    versions: '<= 6.2.4',
    fault: 'A payload that is an array passes without a check of any claim.',
    source: 'https://github.com/advisories/GHSA-5hjw-83fp-phq9',
    installed: 'fast-jwt-6.2.4',
    faulty: () => guardOf(load('fast-jwt-6.2.4').createVerifier({ key: SECRET, allowedIss: ISSUER })),
    attack: (typ) => present(forge({ alg: 'HS256', typ, kid: 'k1' }, [{ iss: OTHER, exp: 1 }])),
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_token: claims',
  },
  {
    id: 'CVE-2026-41164',
    year: 2026,
    project: 'nuts-node',
    versions: 'v5 < 5.4.31, v6 < 6.2.3',
    fault: 'A token of any type is an access token, if the key is the same.',
    source: 'https://github.com/advisories/GHSA-9hmg-827w-9rhj',
    faulty: () => guardOf((text) => isFresh(text)),
    attack: () => present(token('vp+jwt')),
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_token: type',
  },
  {
    id: 'CVE-2025-59420',
    year: 2025,
    project: 'Authlib',
    versions: '< 1.6.4',
    fault: 'Unknown extensions in `crit` are ignored.',
    source: 'https://github.com/advisories/GHSA-9ggr-2464-2j32',
    faulty: () => guardOf((text) => isFresh(text)),
    ...extension,
  },
  {
    id: 'CVE-2026-32597',
    year: 2026,
    project: 'PyJWT',
    versions: '< 2.12.0',
    fault: 'Unknown extensions in `crit` are ignored.',
    source: 'https://github.com/advisories/GHSA-752w-5fwx-jx9f',
    faulty: () => guardOf((text) => isFresh(text) && open(text).payload['iss'] === ISSUER),
    ...extension,
  },
  {
    id: 'CVE-2026-35042',
    year: 2026,
    project: 'fast-jwt',
    versions: '<= 6.1.0',
    fault: 'Unknown extensions in `crit` are ignored.',
    source: 'https://github.com/nearform/fast-jwt/security/advisories/GHSA-hm7r-c7qw-ghp6',
    installed: 'fast-jwt-6.1.0',
    faulty: () => guardOf(load('fast-jwt-6.1.0').createVerifier({ key: SECRET })),
    ...extension,
  },
]
