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
    source: 'https://github.com/advisories/GHSA-r9jw-mwhq-wp62',
    year: 2017,
    versions: 'PyJWT < 1.5.1',
    fault: 'A PKCS #1 PEM is not recognised as a public key, so it is an HMAC secret.',
    faulty: () => withDenylist(PEMS, PKCS1, PEM, 'RS256'),
    ...asSecret(PKCS1),
  },
  'CVE-2022-29217': {
    source: 'https://github.com/jpadilla/pyjwt/security/advisories/GHSA-ffqj-6fqr-9h24',
    year: 2022,
    versions: 'PyJWT 1.5.0 to 2.3.0',
    fault: 'OpenSSH keys other than `ssh-rsa` are not recognised as public keys.',
    faulty: () => withDenylist([...PEMS, '-----BEGIN RSA PUBLIC KEY-----'], SSH, EC.publicKey, 'ES256'),
    ...ssh,
  },
  'CVE-2024-33663': {
    source: 'https://github.com/advisories/GHSA-6c5p-j8vq-pqhj',
    year: 2024,
    versions: 'python-jose < 3.4.0',
    fault: 'OpenSSH keys of ECDSA are not recognised as public keys.',
    faulty: () => withDenylist(['-----BEGIN', 'ssh-rsa'], SSH, EC.publicKey, 'ES256'),
    ...ssh,
  },
  'CVE-2026-48526': {
    source: 'https://github.com/advisories/GHSA-xgmm-8j9v-c9wx',
    year: 2026,
    versions: 'PyJWT < 2.13.0',
    fault: 'The JSON text of a public JWK is an HMAC secret.',
    faulty: () => withDenylist([...PEMS, '-----BEGIN', 'ssh-', 'ecdsa-'], JWK_TEXT, PEM, 'RS256'),
    ...asSecret(JWK_TEXT),
  },
  'CVE-2023-48223': {
    source: 'https://github.com/advisories/GHSA-c2ff-88x2-x9pg',
    year: 2023,
    versions: 'fast-jwt < 3.3.2',
    fault: 'A PKCS #1 PEM is not recognised as a public key, so it is an HMAC secret.',
    installed: 'fast-jwt-3.3.1',
    faulty: fastJwt(PKCS1),
    ...asSecret(PKCS1),
  },
  'CVE-2026-34950': {
    source: 'https://github.com/advisories/GHSA-mvf2-f6gm-w987',
    year: 2026,
    versions: 'fast-jwt < 6.2.0',
    fault: 'A PEM with white space before it is not recognised as a public key.',
    installed: 'fast-jwt-6.1.0',
    faulty: fastJwt(`\n${PKCS1}`),
    ...asSecret(`\n${PKCS1}`),
  },
  'CVE-2026-107722': {
    source: 'https://github.com/advisories/GHSA-ww5h-9m49-7xx4',
    year: 2026,
    versions: 'fast-jwt 6.2.0 to 6.2.4',
    fault: 'A PEM with a comment before it is not recognised as a public key.',
    installed: 'fast-jwt-6.2.4',
    faulty: fastJwt(COMMENTED),
    ...asSecret(COMMENTED),
  },
  'CVE-2026-107724': {
    source: 'https://github.com/advisories/GHSA-g3jj-5cmm-3hxx',
    year: 2026,
    versions: 'fast-jwt 6.2.4',
    fault: 'The JSON text of a public JWK is an HMAC secret.',
    installed: 'fast-jwt-6.2.4',
    faulty: fastJwt(JWK_TEXT),
    ...asSecret(JWK_TEXT),
  },
  'CVE-2025-65945': {
    source: 'https://github.com/advisories/GHSA-869p-cjfg-cm3x',
    year: 2025,
    versions: 'jws < 3.2.3, 4.0.0',
    fault: 'For an unknown key id, `createVerify` uses an empty HMAC secret.',
    installed: 'jws-3.2.2',
    verifies: (signature, library) =>
      library.createVerify({ signature, algorithm: 'HS256', secret: secretFor(signature) }).verify(),
    ...emptySecret,
  },
  'CVE-2026-44351': {
    source: 'https://github.com/advisories/GHSA-gmvf-9v4p-v8jc',
    year: 2026,
    versions: 'fast-jwt < 6.2.4',
    fault: 'A key function that finds nothing returns an empty text, which is an HMAC secret.',
    installed: 'fast-jwt-6.2.3',
    verifies: (text, { createVerifier }) => createVerifier({ key: async () => secretFor(text) ?? '' })(text),
    ...emptySecret,
  },
  'CVE-2026-45363': {
    source: 'https://github.com/jwt/ruby-jwt/security/advisories/GHSA-c32j-vqhx-rx3x',
    year: 2026,
    versions: 'ruby-jwt < 2.10.3, < 3.2.0',
    fault: 'An empty key from a key finder is an HMAC secret.',
    verifies: (text) => isSigned(text, secretFor(text) ?? '', 'HS256'),
    ...emptySecret,
  },
  'CVE-2019-20933': {
    source: 'https://github.com/advisories/GHSA-2rmp-fw5r-j5qv',
    year: 2019,
    versions: 'InfluxDB < 1.7.6',
    fault: 'Tokens are accepted when no shared secret is set, so the secret is empty.',
    verifies: (text) => ['', SECRET].some((configured) => isSigned(text, configured, 'HS256')),
    ...emptySecret,
    attack: (typ) => present(token(typ, { key: '' })),
    refusal: 'invalid_token: signature',
  },
  'CVE-2018-0114': {
    source: 'https://github.com/advisories/GHSA-jfxm-w8g2-4rcv',
    year: 2018,
    versions: 'node-jose < 0.11.0',
    fault: 'The key that is embedded in the header verifies the token.',
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
    source: 'https://github.com/dhax/go-base/security/advisories/GHSA-mqq6-462x-jxmm',
    year: 2026,
    versions: 'dhax/go-base before 2026-05-17',
    fault: 'The default secret `random` is public.',
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
    source: 'https://github.com/centrifugal/centrifugo/security/advisories/GHSA-j77h-rr39-c552',
    year: 2026,
    versions: 'Centrifugo < 6.7.0',
    fault: 'A claim of the unverified token is a part of the URL that the keys are fetched from.',
    verifies: (text) => {
      const key = PUBLISHED[String(open(text).payload['iss'])]
      return key !== undefined && isSigned(text, key, 'RS256')
    },
    attack: (typ) => present(byAttacker(typ, ATTACKER_ISSUER, { jku: `${ATTACKER_ISSUER}/jwks.json` })),
    ...remote,
  },
  'CVE-2026-49998': {
    source: 'https://github.com/centrifugal/centrifugo/security/advisories/GHSA-g6vg-wj8f-48cj',
    year: 2026,
    versions: 'Centrifugo < 6.8.1',
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
    ...remote,
  },
}
