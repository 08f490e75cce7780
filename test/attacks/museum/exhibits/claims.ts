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
    verifies: (text) => {
      const { aud } = open(text).payload
      const read = typeof aud === 'string' ? aud : ''
      return isFresh(text) && (read === '' || read === ISSUER)
    },
    ...claim({ aud: [OTHER] }, 'claims'),
    refusalAsJwt: 'invalid_token: audience',
  },
  'CVE-2023-22482': {
    verifies: (text) => isFresh(text) && open(text).payload['iss'] === ISSUER,
    ...claim({ aud: OTHER }, 'audience'),
  },
  'CVE-2025-62610': {
    installed: 'hono-4.10.1',
    typ: 'JWT',
    faulty: (library) => honoGuard(library, load('hono-4.10.1/jwt').jwt({ secret: SECRET, alg: 'HS256' })),
    ...claim({ aud: OTHER }, 'audience'),
  },
  'CVE-2024-53861': {
    verifies: (text) => isFresh(text) && ISSUER.includes(String(open(text).payload['iss'])),
    ...claim({ iss: ISSUER.slice(0, -2) }, 'issuer'),
  },
  'CVE-2025-30144': {
    installed: 'fast-jwt-5.0.5',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET, allowedIss: ISSUER })),
    ...claim({ iss: [OTHER, ISSUER] }, 'claims'),
  },
  'CVE-2026-25537': {
    verifies: (text) => {
      const { nbf, exp } = open(text).payload
      const now = Date.now() / 1000
      const isLater = (time: unknown, otherwise: boolean) => (typeof time === 'number' ? time > now : otherwise)
      return isSigned(text, SECRET, 'HS256') && isLater(exp, true) && !isLater(nbf, false)
    },
    ...claim({ nbf: '99999999999' }, 'claims'),
  },
  'GHSA-wxg7-w2v3-w38g': {
    verifies: (text) => isSigned(text, SECRET, 'HS256') && open(text).payload['iss'] === ISSUER,
    ...claim({ iat: 1_500_000_000, exp: 1_500_003_600 }, 'expired'),
  },
  'CVE-2026-107723': {
    installed: 'fast-jwt-6.2.4',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET, allowedIss: ISSUER })),
    attack: (typ) => present(forge({ alg: 'HS256', typ, kid: 'k1' }, [{ iss: OTHER, exp: 1 }])),
    ...bySecret('invalid_token: claims'),
  },
  'CVE-2026-41164': {
    verifies: (text) => isFresh(text),
    attack: () => present(token('vp+jwt')),
    ...bySecret('invalid_token: type'),
  },
  'CVE-2025-59420': {
    verifies: (text) => isFresh(text),
    ...extension,
  },
  'CVE-2026-32597': {
    verifies: (text) => isFresh(text) && open(text).payload['iss'] === ISSUER,
    ...extension,
  },
  'CVE-2026-35042': {
    installed: 'fast-jwt-6.1.0',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET })),
    ...extension,
  },
}
