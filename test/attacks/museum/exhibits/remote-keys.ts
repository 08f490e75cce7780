import { remoteKeys } from 'express-token-endpoint'
import { startSource } from '../../../support/jwks-source.js'
import type { Exhibit } from '../exhibit.js'
import { guardWith } from '../ours.js'
import { guardOf } from '../packages.js'
import { ATTACKER, ISSUER, isSigned, JWK, open, PEM, present, RSA, token, validPair } from '../tokens.js'

const ATTACKER_ISSUER = 'https://attacker.example.com'

const ours = async () => {
  const { url } = await startSource({ keys: [{ ...JWK, alg: 'RS256', use: 'sig' }] })
  return guardWith(remoteKeys(url))()
}

/** The public keys at the URL of each issuer. The attacker can publish keys too. */
const PUBLISHED: Record<string, typeof RSA.publicKey> = {
  [ISSUER]: RSA.publicKey,
  [ATTACKER_ISSUER]: ATTACKER.publicKey,
}

const byAttacker = (typ: string, iss: string, header = {}) =>
  token(typ, { alg: 'RS256', key: ATTACKER.privateKey, payload: { iss }, header })

/** Keys come from one source that the host chose, and belong to its issuer. */
export const REMOTE_KEYS: Exhibit[] = [
  {
    id: 'CVE-2026-32301',
    fault: 'A claim of the unverified token is a part of the URL that the keys are fetched from.',
    faulty: () =>
      guardOf((text) => {
        const key = PUBLISHED[String(open(text).payload['iss'])]
        return key !== undefined && isSigned(text, key, 'RS256')
      }),
    attack: (typ) => present(byAttacker(typ, ATTACKER_ISSUER, { jku: `${ATTACKER_ISSUER}/jwks.json` })),
    control: validPair,
    ours,
    refusal: 'invalid_token: signature',
  },
  {
    id: 'CVE-2026-49998',
    fault: 'Cached keys of all issuers share the key ids, so one issuer signs for another.',
    faulty: () => {
      const cached = new Map<unknown, string | typeof RSA.publicKey>()
      return guardOf((text) => {
        const { header, payload } = open(text)
        const key = cached.get(header['kid']) ?? PUBLISHED[String(payload['iss'])] ?? PEM
        cached.set(header['kid'], key)
        return isSigned(text, key, 'RS256')
      })
    },
    attack: (typ) => present(byAttacker(typ, ATTACKER_ISSUER), byAttacker(typ, ISSUER)),
    control: validPair,
    ours,
    refusal: 'invalid_token: signature',
  },
]
