// src/factors/passkey-checks.ts too.
import { createAuth, memoryStore } from 'express-token-endpoint'
import { type PasskeysOptions, passkeys } from 'express-token-endpoint/passkeys'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { expectMisuse, thrownBy } from '../../support/failures.js'
import { ISSUER, makeStore, SECRET } from '../../support/fixtures.js'

const account = { id: 'acc-1', email: 'alice@example.com' }

describe('passkeys', () => {
  it.each<[string, object, string]>([
    ['no domain', {}, '"rpId" must be a domain'],
    ['a URL', { rpId: 'https://example.com' }, '"rpId" must be a domain'],
    ['a host with a port', { rpId: 'localhost:3000' }, '"rpId" must be a domain'],
    ['an origin as a text', { origins: 'https://example.com' }, '"origins" must be a list of origins'],
    ['no origins', { origins: [] }, '"origins" must be a list of origins'],
    ['an origin with a slash', { origins: ['https://example.com/'] }, '"origins" must be a list of origins'],
    ['an origin that is no URL', { origins: ['https://'] }, '"origins" must be a list of origins'],
    ['the origin of a file', { origins: ['file://x'] }, '"origins" must be a list of origins'],
    ['an empty name', { name: '' }, '"name" must be a name'],
    ['a name that is too long', { name: 'x'.repeat(65) }, '"name" must be a name'],
    ['a name of users that is a text', { userName: 'x' }, '"userName" must be a function'],
    ['an unknown option', { rpID: 'example.com' }, 'unknown option "rpID"'],
  ])('refuses %s', (_what, change, message) => {
    const given = 'rpId' in change || Object.keys(change).length === 0 ? change : { rpId: 'example.com', ...change }
    expectMisuse(() => passkeys(given as PasskeysOptions), `passkeys: ${message}`.replace(': "', ': option "'))
  })

  it('takes origins of pages and of an app for Android', () => {
    const origins = ['https://app.example.com', 'http://localhost:3000', 'android:apk-key-hash:abc-_1']
    expect(passkeys({ rpId: 'example.com', origins }).origins).toEqual(origins)
    expect(passkeys({ rpId: 'localhost' }).origins).toBeUndefined()
  })

  it('names an account by its address, its id or a function', () => {
    const { userName } = passkeys({ rpId: 'example.com' })
    expect([userName(account), userName({ id: 'acc-2' }), userName({ id: 'acc-3', email: null })]).toEqual([
      'alice@example.com',
      'acc-2',
      'acc-3',
    ])
    expect(passkeys({ rpId: 'example.com', userName: ({ id }) => `@${id}` }).userName(account)).toBe('@acc-1')
    for (const wrong of ['', undefined, 1])
      expectMisuse(
        () => passkeys({ rpId: 'example.com', userName: () => wrong as string }).userName(account),
        'passkeys: option "userName" must return a non-empty string',
      )
  })
})

describe('the package', () => {
  afterEach(() => {
    vi.doUnmock('../../support/runner/simplewebauthn.js')
    vi.resetModules()
  })

  async function withPackage(simplewebauthn: () => unknown) {
    vi.resetModules()
    vi.doMock('../../support/runner/simplewebauthn.js', () => ({ simplewebauthn, helpers: () => ({}) }))
    return (await import('../../../src/passkeys/passkeys.js')).passkeys
  }

  it.each<[string, () => unknown, string]>([
    [
      'is missing',
      () => {
        throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' })
      },
      'is missing. Run: npm install @simplewebauthn/server@14',
    ],
    [
      'is broken',
      () => {
        throw new Error('broken')
      },
      'cannot be loaded. Run: npm install',
    ],
    ['is too old', () => ({ verifyAuthenticationResponse() {} }), 'is too old. Run: npm install'],
  ])('that %s is an error at the start that says what to do', async (_what, load, message) => {
    const create = await withPackage(load)
    const error = thrownBy(() => create({ rpId: 'example.com' })) as Error
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain(`passkeys: the package @simplewebauthn/server ${message}`)
  })
})

describe('the option of createAuth', () => {
  const checks = passkeys({ rpId: 'example.com' })
  const settings = { issuer: ISSUER, secret: SECRET, accounts: makeStore(), store: memoryStore(), passkeys: checks }

  it('takes the result of passkeys()', () => {
    expect(createAuth(settings).openApi.account).toMatchObject({ passkeys: true })
    expect(createAuth({ ...settings, passkeys: false }).openApi.account).toBeUndefined()
    for (const wrong of [true, {}, { rpId: 'example.com' }, 'example.com'])
      expectMisuse(
        () => createAuth({ ...settings, passkeys: wrong as never }),
        'createAuth: option "passkeys" must be passkeys({ rpId:',
      )
  })

  it.each([
    ['secret', { secret: undefined, keys: { alg: 'HS256', secret: SECRET } as const }, '"secret"'],
    ['the sessions', { store: { factors: memoryStore().factors } }, '"store" with "sessions"'],
    ['the factors', { store: { sessions: memoryStore().sessions } }, '"store" with "factors"'],
    ['findById', { accounts: () => null }, '"accounts" with "findById"'],
  ])('needs %s', (_what, change, text) => {
    expectMisuse(() => createAuth({ ...settings, ...change } as never), `createAuth: option "passkeys" needs ${text}`)
  })

  it('needs origins where the issuer is not on the domain of the passkeys', () => {
    for (const rpId of ['example.net', 'ample.com', 'api.example.com.evil.com'])
      expectMisuse(
        () => createAuth({ ...settings, passkeys: passkeys({ rpId }) }),
        'createAuth: option "passkeys" has an "rpId" that is neither the host of "issuer"',
      )
    const origins = ['https://app.example.net']
    expect(() => createAuth({ ...settings, passkeys: passkeys({ rpId: 'example.net', origins }) })).not.toThrow()
    expect(() => createAuth({ ...settings, passkeys: passkeys({ rpId: new URL(ISSUER).hostname }) })).not.toThrow()
  })
})
