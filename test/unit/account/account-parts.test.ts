import type { IncomingMessage } from 'node:http'
import { AuthError } from 'express-token-endpoint'
import { expect, it, vi } from 'vitest'
import {
  accountCall,
  addressOfAccount,
  code,
  email,
  endEverything,
  findByAddress,
  hashNew,
  inSlot,
  mailCode,
  newAddress,
  notify,
  ownAccount,
  withSent,
} from '../../../src/account/account-parts.js'
import { missingMembers } from '../../../src/http/declaration.js'
import type { QueuedPasswords } from '../../../src/passwords/passwords.js'
import type { VerifiedToken } from '../../../src/tokens/verified-token.js'
import { settled } from '../../support/concurrency.js'
import { fatalErrors, refusalOf } from '../../support/failures.js'
import { ACCOUNTS, fastPasswords } from '../../support/fixtures.js'
import { hang } from '../../support/values/invalid-results.js'

const { alice, passwordless } = ACCOUNTS
const STRONG = 'a quiet harbour at dawn'
const req = { headers: {} } as IncomingMessage
const ORIGIN = { req, address: '192.0.2.1', network: '192.0.2.1', signal: new AbortController().signal }
const call = () => ({ req, origin: ORIGIN as never, about: { address: '192.0.2.1' } as Record<string, unknown> })

it('a body keeps the members that are for the host', () => {
  const body = withSent({ email, code }, 'Name')
  expect([body.message, body.schema]).toEqual([missingMembers(['email', 'code']), 'Name'])
  const sent = { email: 'a@b', code: 'x', name: 'Ann' }
  expect(body.read(sent)).toEqual({ email: 'a@b', code: 'x', sent })
  for (const wrong of [undefined, [], { email: 'a@b' }, { ...sent, code: 5 }, { ...sent, email: '\ud800' }])
    expect(body.read(wrong)).toBeUndefined()
})

it('a call has its tenant, also for events, and the fields that the host has named', () => {
  const given = call()
  const tenant = vi.fn(() => 'north')
  const sent = { email: 'a@b', code: 'x', plan: 'p' }
  const read = accountCall({ tenant, extraFields: ['plan', 'other'] }, given as never, sent)
  expect(read).toMatchObject({ tenant: 'north', hasUnnamed: false, req })
  expect({ ...read.fields }).toEqual({ plan: 'p' })
  expect(given.about).toEqual({ address: '192.0.2.1', tenant: 'north' })
  expect(tenant).toHaveBeenCalledWith({ req, fields: read.fields })
  const unnamed = call()
  expect(accountCall({ tenant: undefined, extraFields: [] }, unnamed as never, sent)).toMatchObject({
    tenant: undefined,
    hasUnnamed: true,
  })
  expect(unnamed.about).not.toHaveProperty('tenant')
})

it('a call whose tenant the host cannot tell is unavailable', () => {
  const failing = () => accountCall({ tenant: () => '', extraFields: [] }, call() as never, {})
  expect(failing).toThrow(expect.objectContaining({ code: 'unavailable', option: 'tenant' }))
})

it('an address is looked up with the request, the fields and the tenant, unless no account can have it', async () => {
  const findByEmail = vi.fn(() => alice)
  const parts = { accounts: { findByEmail }, timeout: 1000 }
  const context = { req, fields: {}, tenant: 'north' }
  expect(await findByAddress(parts, context, alice.email)).toMatchObject({ account: { id: alice.id } })
  expect(findByEmail.mock.calls).toEqual([[alice.email, context]])
  for (const address of ['a\0b', 'x'.repeat(1000)]) expect(await findByAddress(parts, context, address)).toBeUndefined()
  expect(findByEmail).toHaveBeenCalledTimes(1)
})

it('an address has the form of the store', async () => {
  const of = (normalizeEmail?: (text: string) => string) =>
    newAddress(
      { accounts: { findByEmail: () => undefined, ...(normalizeEmail && { normalizeEmail }) }, timeout: 1000 },
      'Ann@b',
    )
  expect(await of()).toBe('Ann@b')
  expect(await of((text) => text.toLowerCase())).toBe('ann@b')
  // The second change, when the account is stored, would give it another mailbox than the one of the code.
  expect(await of((text) => text.replace('n', ''))).toBeUndefined()
})

it.each<[string, () => unknown]>([
  ['throws', () => expect.fail('down')],
  ['returns no text', () => undefined],
  ['returns a promise', async () => 'a@b'],
  ['rejects', async () => expect.fail('down')],
])('is unavailable when normalizeEmail %s', async (_what, normalizeEmail) => {
  const errors = fatalErrors()
  const accounts = { findByEmail: () => undefined, normalizeEmail: normalizeEmail as () => string }
  const error = await refusalOf(newAddress({ accounts, timeout: 1000 }, 'a@b'))
  expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
  await settled()
  expect(errors).toEqual([])
})

it.each([
  ['gone', undefined, 'unknown_account'],
  ['disabled', { ...alice, disabled: true }, 'account_disabled'],
  ['ended the token', { ...alice, tokensValidAfter: new Date(1001) }, 'superseded'],
])('the account of a token is refused when it has meanwhile %s', async (_what, found, reason) => {
  const auth = { accountId: alice.id, issuedAt: new Date(1000) } as VerifiedToken
  const parts = { findById: () => found, timeout: 1000 }
  expect(await refusalOf(ownAccount(parts, auth))).toMatchObject({ code: 'invalid_token', reason })
  const current = { ...alice, tokensValidAfter: new Date(1000) }
  expect(await ownAccount({ ...parts, findById: () => current }, auth)).toMatchObject({ account: { id: alice.id } })
})

it.each([undefined, null, ''])('an account with the address %j gets no mail', (address) => {
  expect(addressOfAccount(alice)).toBe(alice.email)
  const missing = () => addressOfAccount({ ...alice, email: address })
  expect(missing).toThrow(expect.objectContaining({ code: 'unavailable', dependency: 'accounts', accountId: alice.id }))
  const mailer = { notify: vi.fn() }
  const account = { ...alice, email: address }
  notify({ mailer: mailer as never }, { about: {}, tenant: undefined } as never, { kind: 'password-changed', account })
  expect(mailer.notify).not.toHaveBeenCalled()
})

it('a notice goes to the address of the account with its tenant, and to nobody without mails', () => {
  const mailer = { notify: vi.fn() }
  const of = { about: { address: 'x' }, tenant: 'north' } as never
  const notice = { kind: 'address-changed', account: alice, details: { email: 'b@c' } } as const
  notify({ mailer: mailer as never }, of, notice)
  const mail = { kind: 'address-changed', to: alice.email, details: { email: 'b@c' }, tenant: 'north' }
  expect(mailer.notify.mock.calls).toEqual([[mail, alice.id, { address: 'x' }]])
  expect(() => notify({ mailer: undefined }, of, notice)).not.toThrow()
})

it('a code is created only for a mail that may be sent', async () => {
  const codes = { create: vi.fn(async () => 'the code') }
  const deliver = vi.fn()
  const mail = (mayMail: boolean) =>
    mailCode(
      { codes: codes as never, mailer: { mayMail: () => mayMail } as never },
      { tenant: 'north' } as never,
      deliver,
      { kind: 'password-reset', to: 'a@b', owner: 'acc-1', facts: { tag: 'x' } },
    )
  await mail(false)
  expect([codes.create.mock.calls, deliver.mock.calls]).toEqual([[], []])
  await mail(true)
  expect(codes.create.mock.calls).toEqual([['password-reset', 'north', 'acc-1', { to: 'a@b', tag: 'x' }]])
  expect(deliver.mock.calls).toEqual([[{ kind: 'password-reset', to: 'a@b', code: 'the code', tenant: 'north' }]])
})

it('everything of an account ends: first its sessions, then its codes', async () => {
  const steps: unknown[] = []
  const sessions = { endAll: async (...args: unknown[]) => void steps.push(['sessions', ...args]) } as never
  const codes = { removeAll: async (...args: unknown[]) => void steps.push(['codes', ...args]) } as never
  await endEverything({ sessions, codes }, 'acc-1', '192.0.2.1')
  expect(steps).toEqual([
    ['sessions', 'acc-1', '192.0.2.1'],
    ['codes', 'acc-1'],
  ])
  await endEverything({ sessions: undefined, codes: undefined }, 'acc-1', undefined)
})

it('a new password is checked before it takes a place in the queue, and is hashed there', async () => {
  const passwords = fastPasswords() as QueuedPasswords
  const reserve = vi.spyOn(passwords, 'reserve')
  const parts = { passwords, timeout: 1000 }
  for (const weak of ['short', 'x'.repeat(100_000), 'passwordpassword'])
    expect(await refusalOf(hashNew(parts, ORIGIN as never, weak))).toMatchObject({ code: 'weak_password' })
  expect(reserve).not.toHaveBeenCalled()
  expect(await hashNew(parts, ORIGIN as never, STRONG)).toBe(`plain:${STRONG}`)
  expect(reserve).toHaveBeenCalledWith({ network: ORIGIN.network, signal: ORIGIN.signal, timeout: 1000 })
  expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
})

it('a slot is left after a failure too, which is one of the passwords', async () => {
  const passwords = fastPasswords() as QueuedPasswords
  const parts = { passwords, timeout: 1000 }
  const failing = inSlot(parts, ORIGIN as never, async () => expect.fail('down'))
  expect(await refusalOf(failing)).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
  const refused = inSlot(parts, ORIGIN as never, () => Promise.reject(new AuthError('overloaded')))
  expect(await refusalOf(refused)).toMatchObject({ code: 'overloaded' })
  expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
})

it('a look-up that hangs is unavailable', async () => {
  const auth = { accountId: passwordless.id, issuedAt: new Date() } as VerifiedToken
  const error = await refusalOf(ownAccount({ findById: hang as never, timeout: 1 }, auth))
  expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
})
