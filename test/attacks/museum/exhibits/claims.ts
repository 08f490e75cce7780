import { forge } from '../../../support/fixtures.js'
import { guardOf, type Hall, honoGuard, load } from '../exhibit.js'
import { bySecret } from '../ours.js'
import { ISSUER, isFresh, isSigned, open, present, SECRET, token } from '../tokens.js'

const OTHER = 'https://other.example.com'

/** A token with other claims, and the reason to refuse it. */
const claim = (payload: Record<string, unknown>, reason: string) => ({
  attack: (typ: string) => present(token(typ, { payload })),
  ...bySecret(`invalid_token: ${reason}`),
})
const extension = {
  attack: (typ: string) => present(token(typ, { header: { crit: ['x-policy'], 'x-policy': 'require-mfa' } })),
  ...bySecret('invalid_token: critical_header'),
}

/** The signature of each token here is valid. A claim or a header member makes the token invalid. */
export const CLAIMS: Hall = {
  'CVE-2020-26160': {
    source: 'https://github.com/advisories/GHSA-w73w-5m7g-f7qc',
    year: 2020,
    versions: 'jwt-go < 4.0.0-preview1',
    fault: 'An array as audience counts as a missing audience, which is allowed.',
    verifies: (text) => {
      const { aud } = open(text).payload
      const read = typeof aud === 'string' ? aud : ''
      return isFresh(text) && (read === '' || read === ISSUER)
    },
    ...claim({ aud: [OTHER] }, 'claims'),
    refusalAsJwt: 'invalid_token: audience',
  },
  'CVE-2023-22482': {
    source: 'https://github.com/argoproj/argo-cd/security/advisories/GHSA-q9hr-j4rf-8fjc',
    year: 2023,
    versions: 'Argo CD < 2.3.14, < 2.4.20, < 2.5.8',
    fault: 'The audience is not checked, so tokens for other services pass.',
    verifies: (text) => isFresh(text) && open(text).payload['iss'] === ISSUER,
    ...claim({ aud: OTHER }, 'audience'),
  },
  'CVE-2025-62610': {
    source: 'https://github.com/advisories/GHSA-m732-5p4w-x69g',
    year: 2025,
    versions: 'hono/jwt 1.1.0 to 4.10.1',
    fault: 'The audience is not checked by default.',
    installed: 'hono-4.10.1',
    typ: 'JWT',
    faulty: (library) => honoGuard(library, load('hono-4.10.1/jwt').jwt({ secret: SECRET, alg: 'HS256' })),
    ...claim({ aud: OTHER }, 'audience'),
  },
  'CVE-2024-53861': {
    source: 'https://github.com/advisories/GHSA-75c5-xw7c-p5pm',
    year: 2024,
    versions: 'PyJWT 2.10.0',
    fault: 'An issuer that is a part of the expected issuer passes.',
    verifies: (text) => isFresh(text) && ISSUER.includes(String(open(text).payload['iss'])),
    ...claim({ iss: ISSUER.slice(0, -2) }, 'issuer'),
  },
  'CVE-2025-30144': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2025-30144',
    year: 2025,
    versions: 'fast-jwt < 5.0.6',
    fault: 'An array of issuers passes when one of them is the expected one.',
    installed: 'fast-jwt-5.0.5',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET, allowedIss: ISSUER })),
    ...claim({ iss: [OTHER, ISSUER] }, 'claims'),
  },
  'CVE-2026-25537': {
    source: 'https://github.com/advisories/GHSA-h395-gr6q-cpjc',
    year: 2026,
    versions: 'jsonwebtoken (Rust) < 10.3.0',
    fault: 'A time of the wrong type counts as missing, so it is not checked.',
    verifies: (text) => {
      const { nbf, exp } = open(text).payload
      const now = Date.now() / 1000
      const isLater = (time: unknown, otherwise: boolean) => (typeof time === 'number' ? time > now : otherwise)
      return isSigned(text, SECRET, 'HS256') && isLater(exp, true) && !isLater(nbf, false)
    },
    ...claim({ nbf: '99999999999' }, 'claims'),
  },
  'GHSA-wxg7-w2v3-w38g': {
    source: 'https://github.com/zitadel/zitadel/security/advisories/GHSA-wxg7-w2v3-w38g',
    year: 2026,
    versions: 'ZITADEL (JWT identity provider) < 3.4.12, < 4.15.2',
    fault: '`exp` and `iat` are not checked.',
    verifies: (text) => isSigned(text, SECRET, 'HS256') && open(text).payload['iss'] === ISSUER,
    ...claim({ iat: 1_500_000_000, exp: 1_500_003_600 }, 'expired'),
  },
  'CVE-2026-107723': {
    source: 'https://github.com/advisories/GHSA-5hjw-83fp-phq9',
    year: 2026,
    versions: 'fast-jwt <= 6.2.4',
    fault: 'A payload that is an array passes without a check of any claim.',
    installed: 'fast-jwt-6.2.4',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET, allowedIss: ISSUER })),
    attack: (typ) => present(forge({ alg: 'HS256', typ, kid: 'k1' }, [{ iss: OTHER, exp: 1 }])),
    ...bySecret('invalid_token: claims'),
  },
  'CVE-2026-41164': {
    source: 'https://github.com/advisories/GHSA-9hmg-827w-9rhj',
    year: 2026,
    versions: 'nuts-node v5 < 5.4.31, v6 < 6.2.3',
    fault: 'A token of any type is an access token, if the key is the same.',
    verifies: (text) => isFresh(text),
    attack: () => present(token('vp+jwt')),
    ...bySecret('invalid_token: type'),
  },
  'CVE-2025-59420': {
    source: 'https://github.com/advisories/GHSA-9ggr-2464-2j32',
    year: 2025,
    versions: 'Authlib < 1.6.4',
    fault: 'Unknown extensions in `crit` are ignored.',
    verifies: (text) => isFresh(text),
    ...extension,
  },
  'CVE-2026-32597': {
    source: 'https://github.com/advisories/GHSA-752w-5fwx-jx9f',
    year: 2026,
    versions: 'PyJWT < 2.12.0',
    fault: 'Unknown extensions in `crit` are ignored.',
    verifies: (text) => isFresh(text) && open(text).payload['iss'] === ISSUER,
    ...extension,
  },
  'CVE-2026-35042': {
    source: 'https://github.com/nearform/fast-jwt/security/advisories/GHSA-hm7r-c7qw-ghp6',
    year: 2026,
    versions: 'fast-jwt <= 6.1.0',
    fault: 'Unknown extensions in `crit` are ignored.',
    installed: 'fast-jwt-6.1.0',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET })),
    ...extension,
  },
}
