import { type AuthError, createLogin, createThrottle, type LoginOptions } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, fastPasswords } from '../../support/fixtures.js'
import { GOOD } from '../../support/host.js'

const { alice } = ACCOUNTS

describe('the option limitKey', () => {
  const make = (
    limitKey: LoginOptions['limitKey'],
    throttle = createThrottle({ limits: { account: { points: 1, duration: '1h' } } }),
  ) =>
    createLogin({
      accounts: () => alice,
      passwords: fastPasswords(),
      extraFields: ['tenant'],
      limitKey,
      throttle,
      onEvent() {},
    })
  const codeOf = async (call: Promise<unknown>) => ((await rejectionOf(call)) as AuthError).code

  it('counts the accounts of each tenant apart', async () => {
    const throttle = createThrottle({ limits: { account: { points: 1, duration: '1h' } } })
    const logIn = make(({ email, fields }) => `${fields['tenant']} ${email}`, throttle)
    expect(await codeOf(logIn({ ...GOOD, tenant: 'north', password: 'x' }))).toBe('invalid_credentials')
    expect(await codeOf(logIn({ ...GOOD, tenant: 'north' }))).toBe('too_many_attempts')
    expect(await logIn({ ...GOOD, tenant: 'south' })).toMatchObject({ subject: { accountId: alice.id } })
    await throttle.reset(`north ${GOOD.email}`)
    expect(await logIn({ ...GOOD, tenant: 'north' })).toBeDefined()
  })

  it('receives the request', async () => {
    const hosts: unknown[] = []
    const logIn = make(({ email, req }) => {
      hosts.push(req?.headers)
      return email
    })
    const headers = { host: 'north.example.com' }
    await logIn(GOOD, { headers, socket: {}, rawHeaders: [] } as never)
    expect(hosts).toEqual([headers])
  })

  const NO_TEXT = 'logIn: limitKey must return a non-empty text, but returned'
  it.each<[string, () => unknown, string]>([
    ['throws', () => expect.fail('bug'), 'bug'],
    ['returns nothing', () => undefined, NO_TEXT],
    ['returns an empty text', () => '', NO_TEXT],
    ['returns a promise', async () => 'x', `${NO_TEXT} a Promise`],
    ['rejects', async () => expect.fail('down'), `${NO_TEXT} a Promise`],
  ])('refuses the login when the function %s, because no limit would count it', async (_, broken, says) => {
    const cause = { message: expect.stringContaining(says) }
    const refusal = { code: 'unavailable', dependency: 'throttle', cause }
    expect(await rejectionOf(make(broken as never)(GOOD))).toMatchObject(refusal)
  })

  it('must be a function', () => {
    expectMisuse(() => make('email' as never), 'option "limitKey"')
  })
})
