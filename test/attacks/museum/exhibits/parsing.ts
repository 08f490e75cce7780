import { createCipheriv, createDecipheriv, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto'
import { goodParts } from '../../../support/fixtures.js'
import { decode, partsOf } from '../../../support/plain-js/token-forger.mjs'
import type { Exhibit } from '../exhibit.js'
import { ourPairGuard, ourSecretGuard } from '../ours.js'
import { guardOf, load } from '../packages.js'
import {
  encode,
  isFresh,
  isSigned,
  PEM,
  present,
  RSA,
  SECRET,
  token,
  unsigned,
  validPair,
  validSecret,
} from '../tokens.js'

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
export const PARSING: Exhibit[] = [
  {
    id: 'CVE-2022-25898',
    fault: 'Characters outside base64url in the signature are ignored.',
    installed: 'jsrsasign-10.5.24',
    faulty: () =>
      guardOf((text) => {
        const { JWS } = load('jsrsasign-10.5.24').KJUR.jws
        return JWS.verifyJWT(text, { utf8: SECRET }, { alg: ['HS256'] })
      }),
    attack: (typ) => present(token(typ).replace(/.{3}$/, '\\$&')),
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_request',
  },
  {
    id: 'CVE-2022-39227',
    fault:
      'A text is verified as JSON and read as a compact token, so a valid token lends its signature to other claims.',
    faulty: () =>
      guardOf((text) => {
        if (!text.startsWith('{')) return isFresh(text)
        const { protected: header, payload, signature } = JSON.parse(text)
        const { sub } = JSON.parse(decode(text.split('.')[1] ?? '').toString())
        return isFresh(`${header}.${payload}.${signature}`) && sub !== undefined
      }),
    attack: (typ) => {
      const { header, payload, signature } = partsOf(token(typ))
      const forged = encode({ ...goodParts().payload, sub: 'acc-2' })
      return present(JSON.stringify({ [`  ${header}.${forged}.`]: '', protected: header, payload, signature }))
    },
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_request',
  },
  {
    id: 'CVE-2023-51774',
    fault: 'An encrypted token passes where a signed one is needed. Everyone can encrypt to a public key.',
    faulty: () =>
      guardOf((text) =>
        isEncrypted(text) ? JSON.parse(decrypted(text)).sub === 'acc-1' : isSigned(text, PEM, 'RS256'),
      ),
    attack: (typ) => present(encrypted(JSON.stringify(goodParts().payload), typ)),
    control: validPair,
    ours: ourPairGuard,
    refusal: 'invalid_token: malformed',
  },
  {
    id: 'CVE-2026-29000',
    fault: 'An unsigned token inside an encrypted one is not checked.',
    faulty: () =>
      guardOf((text) => {
        const inner = isEncrypted(text) ? decrypted(text) : text
        const isPlain = inner.endsWith('.')
        return isPlain || isSigned(inner, PEM, 'RS256')
      }),
    attack: (typ) => present(encrypted(unsigned(typ), typ)),
    control: validPair,
    ours: ourPairGuard,
    refusal: 'invalid_token: malformed',
  },
]
