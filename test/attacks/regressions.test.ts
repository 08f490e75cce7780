import { inspect } from 'node:util'
import express from 'express'
import {
  AuthError,
  type AuthEvent,
  argon2id,
  createPasswords,
  createTokenIssuer,
  createTokenVerifier,
  tokenRouter,
} from 'express-token-endpoint'
import request from 'supertest'
import { expect, it } from 'vitest'
import { expectMisuse, thrownBy } from '../support/failures.js'
import {
  ACCOUNTS,
  countingHasher,
  decodePayload,
  fastPasswords,
  forge,
  goodParts,
  ISSUER,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../support/fixtures.js'
import { TOKEN_PATH } from '../support/http.js'
import { pairOf, publicPem } from '../support/keys.js'

const issuerOf = (keys: unknown) => () => createTokenIssuer({ issuer: ISSUER, keys: keys as never })

it.each(['toString', 'constructor', 'valueOf', 'hasOwnProperty'])('a private claim may be named %s', async (name) => {
  const issuer = makeIssuer()
  const { token } = issuer.issue({ accountId: 'a', claims: { [name]: 1 } })
  expect((await issuer.verify(token)).claims).toEqual({ [name]: 1 })
})
it('a toJSON among the claims overwrites nothing', () => {
  const { token } = makeIssuer().issue({ accountId: 'acc-1', claims: { toJSON: () => ({ sub: 'admin' }) } })
  expect(decodePayload(token)['sub']).toBe('acc-1')
})
it('a number as secret is not shown', () => {
  expectMisuse(issuerOf({ alg: 'HS256', secret: 123456789012345 }), 'secret', ['123456789012345'])
})
it('a PEM in bytes (readFileSync) is no secret', () => {
  const secret = Buffer.from(publicPem(pairOf('RS256').publicKey))
  expectMisuse(issuerOf({ alg: 'HS256', secret }), 'This is a PEM')
})
it('argon2id with less than 8 KiB a lane is misuse', () => {
  expectMisuse(() => argon2id({ memoryCost: 8, parallelism: 2 }), 'memoryCost')
})
it('a hasher whose hash throws at once does not throw out of createPasswords', () => {
  const hash = () => expect.fail('no memory')
  expect(() => createPasswords({ hashers: [{ ...countingHasher(), hash }] })).not.toThrow()
})
it.each([null, '', [], true, '5', false])('a clock that gives %j fails', (time) => {
  expect(() => makeIssuer({ clock: (() => time) as never }).issue({ accountId: 'a' })).toThrow(TypeError)
})
it.each([-5000, 1e300])('a clock that gives %d issues nothing that cannot verify', (time) => {
  expect(() => makeIssuer({ clock: () => time }).issue({ accountId: 'a' })).toThrow(TypeError)
})
it('iat is the clock’s, at the epoch too', () => {
  expect(decodePayload(makeIssuer({ clock: () => 0 }).issue({ accountId: 'a' }).token)['iat']).toBe(0)
})
it.each([`${ISSUER}/? `, `${ISSUER}/#\t`, `${ISSUER} `, 'https://api.exam\nple.com'])('refuses issuer %j', (issuer) => {
  expectMisuse(() => makeIssuer({ issuer }), 'issuer')
})
it.each(['constructor', 'toString', '__proto__'])('an unknown option %s is told as any other', (name) => {
  expectMisuse(() => createPasswords(JSON.parse(`{"${name}":1}`)), 'Known options')
})
it('undefined material beside the real one is absent', () => {
  const { privateKey, publicKey } = pairOf('ES256')
  expect(issuerOf({ alg: 'ES256', privateKey, publicKey: undefined })).not.toThrow()
  const keys = { alg: 'ES256', publicKey, privateKey: undefined } as never
  expect(() => createTokenVerifier({ issuer: ISSUER, keys })).not.toThrow()
})
it('a deeply nested claim is no RangeError', async () => {
  const { header, payload } = goodParts()
  const json = JSON.stringify(payload).replace(/}$/, `,"x":${'['.repeat(4000)}${']'.repeat(4000)}}`)
  const outcome = await makeIssuer()
    .verify(forge(header, json))
    .catch((error: unknown) => error)
  expect(outcome).not.toBeInstanceOf(RangeError)
})
it('an observer that sets the date of its event does not change the answer', async () => {
  const onEvent = (event: AuthEvent) => event.type === 'token.issued' && event.expiresAt.setTime(0)
  const app = express().use(
    tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), onEvent }),
  )
  const { email } = ACCOUNTS.alice
  const { body } = await request(app).post(TOKEN_PATH).send({ email, password: PASSWORD }).expect(200)
  expect(Date.parse(body.expiration)).toBe(Number(decodePayload(body.authenticationToken)['exp']) * 1000)
})
it('AuthError shows no undefined members', () => {
  expect(inspect(new AuthError('missing_token'))).not.toContain('undefined')
})
it('a hole in scopes is no scope', () => {
  expect(thrownBy(() => makeIssuer().issue({ accountId: 'a', scopes: new Array(1) }))).toBeInstanceOf(TypeError)
})
