import { type AuthError, type AuthEvent, type AuthOptions, createLimits } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { logInWith } from '../../support/auth.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS } from '../../support/fixtures.js'
import { GOOD } from '../../support/host.js'

const { alice } = ACCOUNTS

describe('the option tenant', () => {
  function make(
    tenant: AuthOptions['tenant'],
    limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } }),
  ) {
    const events: AuthEvent[] = []
    const tenants: unknown[] = []
    const logIn = logInWith({
      accounts(_email, context) {
        tenants.push(context.tenant)
        return alice
      },
      extraFields: ['tenant'],
      tenant,
      limits,
      onEvent: (event) => void events.push(event),
    })
    return { logIn, events, tenants }
  }
  const codeOf = async (call: Promise<unknown>) => ((await rejectionOf(call)) as AuthError).code

  it.each([
    ['one address', GOOD.email],
    ['two spellings', 'a.lice@example.com'],
  ])('counts the accounts of each tenant apart, and lifts the limits of one: %s', async (_, other) => {
    const limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } })
    const { logIn } = make(({ fields }) => String(fields['tenant']), limits)
    const north = { ...GOOD, tenant: 'north' }
    const refused = other === GOOD.email ? 'too_many_attempts' : 'invalid_credentials'
    expect(await codeOf(logIn({ ...north, password: 'x' }))).toBe('invalid_credentials')
    expect(await codeOf(logIn({ ...north, email: other }))).toBe(refused)
    expect(await logIn({ ...GOOD, tenant: 'south' })).toMatchObject({ subject: { accountId: alice.id } })
    for (const tenant of [undefined, 'south']) await limits.reset({ id: alice.id, email: other, tenant })
    expect(await codeOf(logIn(north))).toBe('too_many_attempts')
    await limits.reset({ id: alice.id, email: GOOD.email, tenant: 'north' })
    expect(await logIn(north)).toBeDefined()
  })

  it('receives the request, and gives the tenant to the look-up and to events', async () => {
    const hosts: unknown[] = []
    const { logIn, events, tenants } = make(({ req, fields }) => {
      hosts.push([req?.headers, fields])
      return 'north'
    })
    const headers = { host: 'north.example.com' }
    await rejectionOf(logIn({ ...GOOD, password: 'x' }, { headers, socket: {}, rawHeaders: [] } as never))
    expect(hosts).toEqual([[headers, {}]])
    expect(tenants).toEqual(['north'])
    expect(events).toMatchObject([{ type: 'token.refused', tenant: 'north' }])
  })

  it('is in no event and in no look-up without the option', async () => {
    const { logIn, events, tenants } = make(undefined)
    await rejectionOf(logIn({ ...GOOD, password: 'x' }))
    expect(tenants).toEqual([undefined])
    expect(events.map((event) => 'tenant' in event)).toEqual([false])
  })

  const NO_TEXT = 'logIn: option "tenant" must return a non-empty string, but returned'
  it.each<[string, () => unknown, string]>([
    ['throws', () => expect.fail('bug'), 'bug'],
    ['returns nothing', () => undefined, NO_TEXT],
    ['returns an empty text', () => '', NO_TEXT],
    ['returns a promise', async () => 'x', `${NO_TEXT} a Promise`],
    ['rejects', async () => expect.fail('down'), `${NO_TEXT} a Promise`],
  ])('refuses the login when the function %s, because no limit would count it', async (_, broken, says) => {
    const cause = { message: expect.stringContaining(says) }
    const { logIn, events, tenants } = make(broken as never)
    expect(await rejectionOf(logIn(GOOD))).toMatchObject({ code: 'unavailable', dependency: 'hook', cause })
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'hook', option: 'tenant', error: cause }])
    expect(tenants).toEqual([])
  })

  it('must be a function', () => {
    expectMisuse(() => make('email' as never), 'option "tenant"')
  })
})
