// Tests accounts/prepare-accounts.ts
import express from 'express'
import { beforeEach, expect, it, vi } from 'vitest'
import { until } from '../../support/concurrency.js'
import { packageOn } from '../../support/host.js'

const warned = vi.fn()
beforeEach(() => {
  warned.mockClear()
  vi.spyOn(process, 'emitWarning').mockImplementation(warned)
  return () => vi.restoreAllMocks()
})

/** Creates an app whose store has a check, with a new copy of the package, because a process warns once. */
async function start(options: object, prepare: (misuse: (message: string) => Error) => unknown) {
  const { createAuth, fastPasswords, ISSUER, makeStore, memoryStore, SECRET } = await packageOn(express)
  const { misuse, PAGE } = await import('../../../src/options/misuse.js')
  const calls = vi.fn(async () => prepare((message) => misuse(message, PAGE.stores)))
  createAuth({
    issuer: ISSUER,
    secret: SECRET,
    accounts: { ...makeStore(), prepare: calls as () => Promise<void> },
    store: memoryStore(),
    passwords: fastPasswords(),
    mail: async () => {},
    ...options,
  })
  await until(() => expect(calls.mock.settledResults.every(({ type }) => type !== 'incomplete')).toBe(true))
  await new Promise(setImmediate)
  return calls
}

const says = 'The account store cannot create, move and remove accounts safely: '

it.each([{ signUp: true }, { changeAddress: true }, { deletion: true }])(
  'a store says at the start of %j what its table lacks',
  async (options) => {
    const calls = await start(options, (misuse) => {
      throw misuse('kyselyAccounts: the table "users" has no unique index')
    })
    expect(calls).toHaveBeenCalledTimes(1)
    expect(warned).toHaveBeenCalledTimes(1)
    expect(warned.mock.calls[0]?.[0]).toMatch(
      /^The account store .+ safely: kyselyAccounts: the table "users" has no unique index\. Until you fix this, .+accounts\.md$/,
    )
  },
)

it('a store warns without the message of an error that is not of the package', async () => {
  await start({ signUp: true }, () => Promise.reject(new Error('postgres://admin:secret-1@db')))
  expect(warned.mock.calls[0]?.[0]).toContain(`${says}Error at `)
  expect(warned.mock.calls[0]?.[0]).not.toContain('secret-1')
})

it('a store that is ready causes no warning, and an app without these routes asks nothing', async () => {
  expect(await start({ signUp: true }, () => undefined)).toHaveBeenCalledTimes(1)
  const refused = await start({ passwordReset: true }, () => Promise.reject(new Error('down')))
  expect(refused).not.toHaveBeenCalled()
  expect(warned).not.toHaveBeenCalled()
})
