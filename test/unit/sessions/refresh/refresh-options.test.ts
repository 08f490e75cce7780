// Tests sessions/refresh/refresh-options.ts login/refresh-mode.ts
import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import { memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { refreshOption } from '../../../../src/login/refresh-mode.js'
import { authWith } from '../../../support/auth.js'
import { expectMisuse } from '../../../support/failures.js'
import { makeStore, SECRET } from '../../../support/fixtures.js'

const KEYGEN = 'npx express-token-endpoint keygen --alg HS256'
const DAY = 86_400_000

describe('the option refresh of createAuth', () => {
  const accounts = makeStore()
  const base = { accounts, store: memoryStore(), secret: SECRET }
  const { replace: _, ...withoutReplace } = memoryStore().sessions

  it('has 14 days, 90 days and 10 s as defaults', () => {
    const times = { idle: 14 * DAY, unremembered: 14 * DAY, longest: 90 * DAY, grace: 10_000 }
    for (const given of ['body', { mode: 'body' }]) expect(refreshOption(given)).toMatchObject(times)
    expect(refreshOption({ mode: 'body', idle: '100d' })).toMatchObject({ longest: 100 * DAY })
    expect(refreshOption({ mode: 'body', idle: '2d', longest: '2d' })).toMatchObject({ longest: 2 * DAY })
  })

  it.each<[string, object, string]>([
    ['another value', { refresh: 'header' }, "\"refresh\" must be 'cookie', 'body', or a function"],
    ['true', { refresh: true }, "\"refresh\" must be 'cookie', 'body', or a function"],
    ['no mode', { refresh: {} }, 'option "refresh": option "mode" must be \'cookie\', \'body\', or a function'],
    ['another mode', { refresh: { mode: 'header' } }, "option \"mode\" must be 'cookie', 'body', or a function"],
    ['the secret in it', { refresh: { mode: 'body', secret: SECRET } }, 'Pass it to createAuth() as "secret"'],
    ['a number of milliseconds', { refresh: { mode: 'body', idle: 1_209_600_000 } }, 'Did you pass milliseconds?'],
    [
      'a time without remember above idle',
      { refresh: { mode: 'body', unremembered: '15d' } },
      '"unremembered" must not be longer',
    ],
    [
      'a longest time below idle',
      { refresh: { mode: 'body', idle: '2d', longest: '1d' } },
      '"longest" must not be shorter',
    ],
    ['a long grace', { refresh: { mode: 'body', grace: '2m' } }, '"grace" must be'],
    ...[
      ['ttl', 'idle'],
      ['expiresIn', 'idle'],
      ['maxAge', 'longest'],
    ].map(([name = '', option]): [string, object, string] => [
      `${name}, the name of another package`,
      { refresh: { mode: 'body', [name]: 5 } },
      `Did you mean "${option}"?`,
    ]),
    ['no store', { refresh: 'body', store: undefined }, 'option "refresh" needs "store" with "sessions"'],
    [
      'a store of codes',
      { refresh: 'body', store: { codes: memoryStore().codes } },
      'option "refresh" needs "store" with "sessions"',
    ],
    [
      'sessions without replace',
      { refresh: 'body', store: { sessions: withoutReplace } },
      'option "refresh" needs "store" whose sessions have "replace"',
    ],
    [
      'no secret',
      { refresh: 'body', secret: undefined },
      `option "refresh" needs "secret". Create one with: ${KEYGEN}`,
    ],
    [
      'accounts without findById',
      { refresh: 'body', accounts: accounts.findByEmail },
      '"accounts" with "findById", because each refresh looks the account up by its id',
    ],
  ])('refuses %s', (_, change, message) => {
    expectMisuse(() => authWith({ ...base, ...change } as never), message)
  })

  it('needs sessions with replace, which an app without it does not', () => {
    expect(() => authWith({ accounts, store: { sessions: withoutReplace } })).not.toThrow()
  })
})

describe('the option secret of createAuth', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' })
  const publicDer = publicKey.export({ type: 'spki', format: 'der' })
  const create = (secret: unknown) => () => authWith({ accounts: makeStore(), secret: secret as never })

  it.each<[string, unknown, string]>([
    ['a short secret', 'r'.repeat(31), `characters. This is too short. Create a secret with: ${KEYGEN}`],
    ['an empty list', [], '"secret" must be a secret of at least 32 bytes'],
    ['a short second secret', [SECRET, 'short'], 'Secret 2 of the list is too short'],
    ['a second secret that is a number', [SECRET, 7], 'Secret 2 of the list is not a string or bytes'],
    ['a secret of one character', '💻'.repeat(16), `This repeats one character. Create a secret with: ${KEYGEN}`],
    ['bytes that are all 0', new Uint8Array(64), 'This repeats one character'],
    ['a second secret of one character', [SECRET, 'x'.repeat(64)], 'Secret 2 of the list repeats one character'],
    ['a public key', publicPem, 'This is a PEM. Did you mean "privateKey" or "publicKey" of "keys"'],
    ['a public key in DER', publicDer, 'This is a key in DER'],
    ['a public key in base64', publicDer.toString('base64'), 'This is a key in DER'],
    ['a public key in hex', publicDer.toString('hex'), 'This is a key in DER'],
    ['a public key as JWK', JSON.stringify(publicKey.export({ format: 'jwk' })), 'This is a JWK'],
    ['a second secret that is a public key', [SECRET, publicPem], 'Secret 2 of the list is a PEM'],
    ['a KeyObject', createSecretKey(Buffer.from(SECRET)), 'This is not a string or bytes'],
  ])('refuses %s', (_, secret, message) => {
    expectMisuse(create(secret), message)
  })

  it('is not shown in errors', () => {
    expect(create('very secret')).toThrow(TypeError)
    expect(create('very secret')).not.toThrow('very secret')
  })
})
