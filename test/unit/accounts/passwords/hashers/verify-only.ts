import type { Hasher } from 'express-token-endpoint'
import fc from 'fast-check'
import { expect } from 'vitest'
import { rejectionOf } from '../../../../support/failures.js'

type Checker = Pick<Hasher, 'accepts' | 'verify'>

/** Firebase's sample project: https://github.com/firebase/scrypt#sample-params. */
export const FIREBASE = {
  signerKey: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  saltSeparator: 'Bw==',
  rounds: 8,
  memCost: 14,
}
export const FIREBASE_SALT = '42xEC+ixf3L2lw=='
export const FIREBASE_DIGEST =
  'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='
export const FIREBASE_HASH = `$firebase-scrypt$${FIREBASE_SALT}$${FIREBASE_DIGEST}`

/** Returns strings that resemble a hash: with changed, missing, repeated and moved characters and parts, and any other text. */
export function almost(hash: string): fc.Arbitrary<string> {
  const text = fc.string({ unit: 'binary', maxLength: 40 })
  const number = fc.oneof(fc.integer().map(String), fc.bigInt().map(String), fc.double().map(String))
  const position = fc.nat({ max: hash.length })
  const parts = hash.split(/(?<=[$=,])|(?=[$=,])/)
  return fc.oneof(
    text,
    fc
      .tuple(position, fc.nat({ max: 3 }), text)
      .map(([at, cut, put]) => hash.slice(0, at) + put + hash.slice(at + cut)),
    fc.tuple(position, position).map(([from, to]) => hash.slice(from, to)),
    fc.shuffledSubarray(parts).map((some) => some.join('')),
    fc
      .tuple(fc.nat({ max: parts.length - 1 }), fc.oneof(number, text))
      .map(([at, put]) => parts.with(at, put).join('')),
    fc.constantFrom('\n', '\0', ' ', '$', '=', 'A').map((end) => hash + end),
  )
}

/** Expects that only one password matches a hash. */
export async function expectMatch(hasher: Checker, password: string, hash: string): Promise<void> {
  expect(hasher.accepts(hash)).toBe(true)
  const others = [password, `${password}z`, '', `${password}\0`]
  const matches = await Promise.all(others.map((other) => hasher.verify(other, hash)))
  expect(matches).toEqual([true, false, false, false])
}

/** Expects that a hasher neither accepts nor checks a hash. */
export async function expectRefused(name: string, hasher: Checker, hash: string): Promise<void> {
  expect(hasher.accepts(hash)).toBe(false)
  expect(await rejectionOf(hasher.verify('x', hash) as Promise<boolean>)).toMatchObject({
    message: `${name}: the stored hash is malformed, or its cost is above the limit. Call "accepts" before "verify"`,
  })
}

/** Expects that a hasher accepts nothing that resembles a valid hash, but for texts of the format. */
export function expectOnly(hasher: Checker, valid: string, format: RegExp): void {
  expect(hasher.accepts(valid)).toBe(true)
  const accepted = (hash: string) => {
    if (hasher.accepts(hash)) expect(hash).toMatch(format)
  }
  fc.assert(fc.property(almost(valid), accepted), { numRuns: 2000 })
}
