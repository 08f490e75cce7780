import { remoteKeys } from 'express-token-endpoint'
import { startSource } from '../../../support/jwks-source.js'
import { guardOf, type Hall, type Library } from '../exhibit.js'
import { byEc, byPair, bySecret, guardWith } from '../ours.js'
import {
  ATTACKER,
  EC,
  ISSUER,
  isSigned,
  JWK,
  open,
  PEM,
  PKCS1,
  present,
  RSA,
  SECRET,
  secretFor,
  token,
} from '../tokens.js'

/** Writes a public key of P-256 as OpenSSH does (RFC 5656 section 3.1). */
function openSsh(): string {
  const { x = '', y = '' } = EC.publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  const fields = ['ecdsa-sha2-nistp256', 'nistp256', point].map((field) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(field.length)
    return Buffer.concat([length, Buffer.from(field)])
  })
  return `ecdsa-sha2-nistp256 ${Buffer.concat(fields).toString('base64')}`
}

const SSH = openSsh()
const JWK_TEXT = JSON.stringify(JWK)
const COMMENTED = `# the public key\n${PEM}`

/** A model of a library that refuses an HMAC secret that begins with one of these texts. A random key may have a short one anywhere. */
const withDenylist = (texts: string[], spelling: string, key: typeof PEM | typeof RSA.publicKey, alg: string) =>
  guardOf((text) => {
    const { header } = open(text)
    if (header['alg'] === alg) return isSigned(text, key, alg)
    return texts.every((listed) => !spelling.startsWith(listed)) && isSigned(text, spelling, 'HS256')
  })

/** A host of fast-jwt with two spellings of its public key. */
const fastJwt =
  (spelling: string) =>
  ({ createVerifier }: Library) => {
    const verifiers = [createVerifier({ key: PEM }), createVerifier({ key: spelling })]
    return guardOf((text) => Promise.any(verifiers.map(async (verify) => verify(text))))
  }

const PEMS = ['-----BEGIN PUBLIC KEY-----', '-----BEGIN CERTIFICATE-----', 'ssh-rsa']

/** The attack signs with a spelling of the public key as an HMAC secret. */
const asSecret = (key: string) => ({
  attack: (typ: string) => present(token(typ, { key })),
  ...byPair('invalid_token: algorithm'),
})
const ssh = { ...asSecret(SSH), ...byEc('invalid_token: algorithm') }
const emptySecret = {
  attack: (typ: string) => present(token(typ, { header: { kid: 'unknown' }, key: '' })),
  ...bySecret('invalid_token: unknown_key'),
}

/** A key must be what the host meant: not a secret because of its spelling, not empty, not the attacker's. */
export const KEYS: Hall = {
  'CVE-2017-11424': {
    faulty: () => withDenylist(PEMS, PKCS1, PEM, 'RS256'),
    ...asSecret(PKCS1),
  },
  'CVE-2022-29217': {
    faulty: () => withDenylist([...PEMS, '-----BEGIN RSA PUBLIC KEY-----'], SSH, EC.publicKey, 'ES256'),
    ...ssh,
  },
  'CVE-2024-33663': {
    faulty: () => withDenylist(['-----BEGIN', 'ssh-rsa'], SSH, EC.publicKey, 'ES256'),
    ...ssh,
  },
  'CVE-2026-48526': {
    faulty: () => withDenylist([...PEMS, '-----BEGIN', 'ssh-', 'ecdsa-'], JWK_TEXT, PEM, 'RS256'),
    ...asSecret(JWK_TEXT),
  },
  'CVE-2023-48223': {
    installed: 'fast-jwt-3.3.1',
    faulty: fastJwt(PKCS1),
    ...asSecret(PKCS1),
  },
  'CVE-2026-34950': {
    installed: 'fast-jwt-6.1.0',
    faulty: fastJwt(`\n${PKCS1}`),
    ...asSecret(`\n${PKCS1}`),
  },
  'CVE-2026-107722': {
    installed: 'fast-jwt-6.2.4',
    faulty: fastJwt(COMMENTED),
    ...asSecret(COMMENTED),
  },
  'CVE-2026-107724': {
    installed: 'fast-jwt-6.2.4',
    faulty: fastJwt(JWK_TEXT),
    ...asSecret(JWK_TEXT),
  },
  'CVE-2025-65945': {
    installed: 'jws-3.2.2',
    verifies: (signature, library) =>
      library.createVerify({ signature, algorithm: 'HS256', secret: secretFor(signature) }).verify(),
    ...emptySecret,
  },
  'CVE-2026-44351': {
    installed: 'fast-jwt-6.2.3',
    verifies: (text, { createVerifier }) => createVerifier({ key: async () => secretFor(text) ?? '' })(text),
    ...emptySecret,
  },
  'CVE-2026-45363': {
    verifies: (text) => isSigned(text, secretFor(text) ?? '', 'HS256'),
    ...emptySecret,
  },
  'CVE-2019-20933': {
    verifies: (text) => ['', SECRET].some((configured) => isSigned(text, configured, 'HS256')),
    ...emptySecret,
    attack: (typ) => present(token(typ, { key: '' })),
    refusal: 'invalid_token: signature',
  },
  'CVE-2018-0114': {
    installed: 'node-jose-0.10.0',
    faulty: (library) => {
      const { JWK: keys, JWS } = library
      const store = keys.createKeyStore()
      const ready = store.add(JWK, 'json')
      return guardOf(async (text) => {
        await ready
        return JWS.createVerify(store).verify(text)
      })
    },
    attack: (typ) => {
      const header = { jwk: ATTACKER.publicKey.export({ format: 'jwk' }) }
      return present(token(typ, { alg: 'RS256', header, key: ATTACKER.privateKey }))
    },
    ...byPair('invalid_token: signature'),
  },
  'CVE-2026-48031': {
    verifies: (text) => ['random', SECRET].some((secret) => isSigned(text, secret, 'HS256')),
    attack: (typ) => present(token(typ, { key: 'random' })),
    ...bySecret('invalid_token: signature'),
  },
}

const ATTACKER_ISSUER = 'https://attacker.example.com'

const ourRemoteGuard = async () => {
  const { url } = await startSource({ keys: [{ ...JWK, alg: 'RS256', use: 'sig' }] })
  return guardWith(remoteKeys(url))()
}

const remote = { ...byPair('invalid_token: signature'), ours: ourRemoteGuard }

/** The public keys at the URL of each issuer. The attacker can publish keys too. */
const PUBLISHED: Record<string, typeof RSA.publicKey> = {
  [ISSUER]: RSA.publicKey,
  [ATTACKER_ISSUER]: ATTACKER.publicKey,
}

const byAttacker = (typ: string, iss: string, header = {}) =>
  token(typ, { alg: 'RS256', key: ATTACKER.privateKey, payload: { iss }, header })

/** Keys come from one source that the host chose, and belong to its issuer. */
export const REMOTE_KEYS: Hall = {
  'CVE-2026-32301': {
    verifies: (text) => {
      const key = PUBLISHED[String(open(text).payload['iss'])]
      return key !== undefined && isSigned(text, key, 'RS256')
    },
    attack: (typ) => present(byAttacker(typ, ATTACKER_ISSUER, { jku: `${ATTACKER_ISSUER}/jwks.json` })),
    ...remote,
  },
  'CVE-2026-49998': {
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
    ...remote,
  },
}
