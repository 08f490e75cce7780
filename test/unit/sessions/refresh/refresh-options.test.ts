import { createSessions, memorySessions, type RefreshOptions } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { readRefreshOptions } from '../../../../src/sessions/refresh/refresh-options.js'
import { authWith } from '../../../support/auth.js'
import { expectMisuse } from '../../../support/failures.js'
import { makeStore } from '../../../support/fixtures.js'

const KEYGEN = 'npx express-token-endpoint keygen --alg HS256'
const SECRET = 'r'.repeat(32)
const DAY = 86_400_000

describe('the option refresh of createSessions', () => {
  const read = (options: unknown) => createSessions(memorySessions(), { refresh: options as RefreshOptions })

  it('has 14 days, 90 days and 10 s as defaults', () => {
    expect(readRefreshOptions({ secret: SECRET })).toMatchObject({ idle: 14 * DAY, longest: 90 * DAY, grace: 10_000 })
    expect(readRefreshOptions({ secret: SECRET, idle: '100d' })).toMatchObject({ longest: 100 * DAY })
    expect(readRefreshOptions({ secret: SECRET, idle: '2d', longest: '2d' })).toMatchObject({ longest: 2 * DAY })
  })

  it.each<[string, unknown, string]>([
    ['no secret', {}, '"secret" must be a secret of at least 32 bytes, or a list of secrets, but is missing'],
    ['a short secret', { secret: 'r'.repeat(31) }, `characters. Create a secret with: ${KEYGEN}`],
    ['an empty list', { secret: [] }, '"secret" must be a secret of at least 32 bytes'],
    ['a short second secret', { secret: [SECRET, 'short'] }, 'Number 2 of the list is too short'],
    ['a secret instead of the options', SECRET, 'an object like { secret: process.env.REFRESH_SECRET }'],
    ['the mode of a router', 'cookie', 'belong to createAuth'],
    ['a number of milliseconds', { secret: SECRET, idle: 1_209_600_000 }, 'Did you pass milliseconds?'],
    [
      'a time without remember above idle',
      { secret: SECRET, unremembered: '15d' },
      '"unremembered" must not be longer',
    ],
    ['a longest time below idle', { secret: SECRET, idle: '2d', longest: '1d' }, '"longest" must not be shorter'],
    ['a long grace', { secret: SECRET, grace: '2m' }, '"grace" must be'],
    ...[
      ['ttl', 'idle'],
      ['expiresIn', 'idle'],
      ['maxAge', 'longest'],
    ].map(([name = '', option]): [string, unknown, string] => [
      `${name}, the name of another package`,
      { secret: SECRET, [name]: 5 },
      `Did you mean "${option}"?`,
    ]),
  ])('refuses %s', (_, options, message) => {
    expectMisuse(() => read(options), message)
  })

  it('is meant by the names of other packages', () => {
    expectMisuse(() => createSessions(memorySessions(), { refreshTokens: {} } as never), 'Did you mean "refresh"?')
  })

  it('shows no secret in its errors', () => {
    expect(() => read({ secret: 'very secret' })).not.toThrow('very secret')
  })

  it('needs a store with replace', () => {
    const { replace: _, ...store } = memorySessions()
    expectMisuse(() => createSessions(store, { refresh: { secret: SECRET } }), 'needs a store with "replace"')
    expect(() => createSessions(store)).not.toThrow()
  })
})

describe('the option refresh of createAuth', () => {
  const sessions = createSessions(memorySessions(), { refresh: { secret: SECRET } })
  const accounts = makeStore()
  const base = { accounts, sessions }

  it.each<[string, object, string]>([
    ['another value', { refresh: 'header' }, "\"refresh\" must be 'cookie', 'body', or a function"],
    ['true', { refresh: true }, "\"refresh\" must be 'cookie', 'body', or a function"],
    ['no sessions', { refresh: 'body', sessions: undefined }, '"refresh" needs "sessions" that can be refreshed'],
    [
      'sessions without refresh',
      { refresh: 'body', sessions: createSessions(memorySessions()) },
      'Pass createSessions(store, { refresh: { secret } })',
    ],
    [
      'a copy of the sessions',
      { refresh: 'body', sessions: { ...sessions } },
      'option "sessions" must be what createSessions() returned',
    ],
    [
      'accounts without findById',
      { refresh: 'body', accounts: accounts.findByEmail },
      '"accounts" with "findById", because each refresh looks the account up by its id',
    ],
  ])('refuses %s', (_, change, message) => {
    expectMisuse(() => authWith({ ...base, ...change } as never), message)
  })
})
