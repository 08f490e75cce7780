import { AuthError, createTokenIssuer } from 'express-token-endpoint'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rejectionOf } from '../../../support/failures.js'
import { ISSUER, issueNow, signingKey } from '../../../support/fixtures.js'
import { atFrozenMoment, signParts, someToken } from '../../../support/tokens.js'

const { issuer: hs256, withPayload, withHeader, forged } = atFrozenMoment()
const es256 = createTokenIssuer({ issuer: ISSUER, keys: signingKey('ES256') })

const char = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...'AQgwBbZz09-_.=+/ \n\0é') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
)
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const edit = fc.record({ at: place, remove: fc.integer({ min: 0, max: 2 }), insert: fc.array(char, { maxLength: 2 }) })

it.each([
  ['HS256', hs256],
  ['ES256', es256],
] as const)('a %s token that was changed anywhere never verifies', async (_, issuer) => {
  const token = someToken(issuer)
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
      const changed = edits.reduce((text, { at, remove, insert }) => {
        const i = Math.floor(at * (text.length + 1))
        return text.slice(0, i) + insert.join('') + text.slice(i + remove)
      }, token)
      if (changed === token) return
      expect(await rejectionOf(issuer.verify(changed))).toMatchObject({ name: 'AuthError', code: 'invalid_token' })
    }),
    { numRuns: 400 },
  )
})

const REGISTERED = ['iss', 'aud', 'sub', 'client_id', 'iat', 'nbf', 'exp', 'jti', 'scope']
const members = (names: string, ...more: string[]) =>
  fc.dictionary(fc.constantFrom(...names.split(' '), ...more), fc.jsonValue())
const base64url = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url'))
const json = fc.jsonValue().map((value) => JSON.stringify(value))

it.each([
  ['any text', fc.string({ unit: 'binary' })],
  ['any code units', fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))],
  ['signed bytes', fc.tuple(base64url, base64url).map(([header, payload]) => signParts(header, payload))],
  ['any header', json.map(withHeader)],
  ['any payload', json.map(withPayload)],
  ['any header member', members('alg typ kid crit b64').map((header) => forged({ header }))],
  ['any claim', members('x __proto__', ...REGISTERED).map((payload) => forged({ payload }))],
])('verify fails with nothing but an AuthError: %s', async (_, texts) => {
  await fc.assert(
    fc.asyncProperty(texts as fc.Arbitrary<string>, async (text) => {
      const outcome = await hs256.verify(text).catch((error: unknown) => error)
      if (!(outcome instanceof AuthError)) expect(outcome).toMatchObject({ issuer: ISSUER, audience: ISSUER })
      else expect(outcome.code).toBe('invalid_token')
    }),
    { numRuns: 300 },
  )
})

const inOrder = (entries: [string, unknown][]) =>
  JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)))

it('what is issued is what is verified, whatever the account is', async () => {
  const scope = fc.string({ unit: fc.constantFrom(...'!#az~[]:/'), minLength: 1 })
  const subjects = fc.record({
    accountId: fc.string({ unit: 'binary', minLength: 1 }),
    scopes: fc.array(scope),
    claims: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  await fc.assert(
    fc.asyncProperty(subjects, async (subject) => {
      const { token, id } = issueNow(hs256, subject)
      const kept = Object.entries(subject.claims).filter(([name]) => !REGISTERED.includes(name))
      const verified = await hs256.verify(token)
      expect(verified).toMatchObject({ id, accountId: subject.accountId, scopes: subject.scopes })
      expect(inOrder(Object.entries(verified.claims))).toBe(inOrder(kept))
    }),
    { numRuns: 200 },
  )
})
