import { pairOf } from '../../../support/keys.js'
import type { Exhibit } from '../exhibit.js'
import { guardWith, ourPairGuard, ourSecretGuard } from '../ours.js'
import { guardOf, load } from '../packages.js'
import {
  ATTACKER,
  encode,
  isSigned,
  open,
  PEM,
  present,
  SECRET,
  token,
  unsigned,
  validPair,
  validSecret,
} from '../tokens.js'

const EC = pairOf('ES256')

/** Has a signature of 64 zero bytes: r = 0 and s = 0. */
const psychic = (typ: string) =>
  token(typ, { alg: 'ES256', key: EC.privateKey }).replace(/[^.]*$/, encode(Buffer.alloc(64)))

const none = { attack: (typ: string) => present(unsigned(typ)), control: validSecret, ours: ourSecretGuard }

/** A signature must be there, be checked, and decide. */
export const UNSIGNED: Exhibit[] = [
  {
    id: 'CVE-2022-23540',
    fault: 'Without a key and without a list of algorithms, `none` is allowed.',
    installed: 'jsonwebtoken-8.5.1',
    faulty: () =>
      guardOf((text) => {
        const keys: Record<string, string> = { HS256: SECRET }
        return load('jsonwebtoken-8.5.1').verify(text, keys[String(open(text).header['alg'])])
      }),
    ...none,
    refusal: 'invalid_token: malformed',
  },
  {
    id: 'CVE-2020-15084',
    fault: 'No list of algorithms is demanded, so `none` passes when the key function finds no key.',
    installed: 'express-jwt-5.3.3',
    faulty: () => {
      // The secret function of jwks-rsa returned no key for an algorithm other than RS256.
      const secret = (
        _req: unknown,
        { alg }: { alg: string },
        _payload: unknown,
        done: (e: null, key: string | null) => void,
      ) => done(null, alg === 'RS256' ? PEM : null)
      const middleware = load('express-jwt-5.3.3')({ secret })
      return guardOf(
        (text) =>
          new Promise<void>((resolve, reject) => {
            const req = { method: 'GET', headers: { authorization: `Bearer ${text}` } }
            middleware(req, {}, (error: unknown) => (error ? reject(error) : resolve()))
          }),
      )
    },
    ...none,
    control: validPair,
    ours: ourPairGuard,
    refusal: 'invalid_token: malformed',
  },
  {
    id: 'CVE-2021-22160',
    fault: 'A parser that also reads unsigned tokens checks the token.',
    faulty: () => guardOf((text) => open(text).header['alg'] === 'none' || isSigned(text, SECRET, 'HS256')),
    ...none,
    refusal: 'invalid_token: malformed',
  },
  {
    id: 'CVE-2026-28802',
    fault: '`none` with an empty signature passes.',
    faulty: () =>
      guardOf((text) => {
        const { header, signature } = open(text)
        return header['alg'] === 'none' ? signature.length === 0 : isSigned(text, SECRET, 'HS256')
      }),
    ...none,
    refusal: 'invalid_token: malformed',
  },
  {
    id: 'CVE-2026-107720',
    fault: 'With an empty key and a list of algorithms, the signature is not checked.',
    installed: 'fast-jwt-6.2.4',
    faulty: () => {
      const { createVerifier } = load('fast-jwt-6.2.4')
      const keys: Record<string, string> = { k1: SECRET }
      const verify = (kid: string) => createVerifier({ key: keys[kid] ?? '', algorithms: ['HS256'] })
      return guardOf((text) => verify(String(open(text).header['kid']))(text))
    },
    attack: (typ) => present(token(typ, { header: { kid: 'k2' } }).replace(/[^.]*$/, '')),
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_token: malformed',
  },
  {
    id: 'CVE-2022-21449',
    fault: 'A signature of zeros verifies for every message and every key.',
    faulty: () =>
      guardOf((text) => open(text).signature.every((byte) => byte === 0) || isSigned(text, EC.publicKey, 'ES256')),
    attack: (typ) => present(psychic(typ)),
    control: (typ) => present(token(typ, { alg: 'ES256', key: EC.privateKey })),
    ours: guardWith({ alg: 'ES256', publicKey: EC.publicKey, kid: 'k1' }),
    refusal: 'invalid_token: signature',
  },
  {
    id: 'CVE-2024-51744',
    fault: 'An expired token with an invalid signature is reported as expired, and callers admit expired ones.',
    faulty: () =>
      guardOf((text) => {
        const errors: string[] = []
        if (Number(open(text).payload['exp']) * 1000 <= Date.now()) errors.push('expired')
        if (!isSigned(text, SECRET, 'HS256')) errors.push('signature')
        // The documented check asks for one error, not for the only one.
        return errors.length === 0 || errors.includes('expired')
      }),
    attack: (typ) => present(token(typ, { payload: { iat: 1, exp: 2 }, key: 'a secret of the attacker' })),
    control: validSecret,
    ours: ourSecretGuard,
    refusal: 'invalid_token: signature',
  },
  {
    id: 'CVE-2026-38651',
    fault: 'Claims are read without a check of the signature.',
    faulty: () => guardOf((text) => Number(open(text).payload['exp']) * 1000 > Date.now()),
    attack: (typ) => present(token(typ, { alg: 'RS256', key: ATTACKER.privateKey })),
    control: validPair,
    ours: ourPairGuard,
    refusal: 'invalid_token: signature',
  },
]
