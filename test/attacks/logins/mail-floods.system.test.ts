// Tests features/{sign-up,password-reset,sign-in-by-mail}.ts
import express from 'express'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  ACCOUNT,
  accountPackage,
  from,
  MAILING,
  MAILING_KINDS,
  type Mailing,
  networkOf,
  STRONG,
} from '../../support/account-app.js'
import { all, statuses } from '../../support/concurrency.js'
import { asJson } from '../../support/host.js'
import { client, TOKEN_PATH } from '../../support/http.js'

const { start, makeStore, ACCOUNTS, PASSWORD } = await accountPackage(express)
const { alice, bob } = ACCOUNTS
const NOBODY = 'nobody@example.com'

/** Stops the minute after which a mail that hangs has left the queue: a slow machine needs longer for its requests. */
function holdForgottenMails(): void {
  const wait = globalThis.setTimeout
  const held = (call: () => void, ms?: number) => wait(call, ms === 60_000 ? 2 ** 31 - 1 : ms)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(held as typeof setTimeout)
  onTestFinished(() => void vi.restoreAllMocks())
}

it.each<[string, (i: number) => string, Record<number, number>]>([
  ['one client', () => '203.0.113.1', { 202: 10, 429: 9990 }],
  ['many clients', networkOf, { 202: 1000, 503: 9000 }],
])(
  'a mailer that hangs, and 10,000 requests for mails of %s: bounded, and other users sign in',
  async (_name, address, expected) => {
    holdForgottenMails()
    let asked = 0
    let isHanging = false
    const work: Promise<void>[] = []
    const many = Array.from({ length: 10_000 }, (_, i) => ({
      ...bob,
      id: `acc-${i}-many`,
      email: `${i}@example.com`,
    }))
    const app = await start({
      accounts: makeStore([alice, bob, ...many]),
      defer: (promise) => work.push(promise),
      mail() {
        if (!isHanging) return
        asked++
        return new Promise<void>(() => {})
      },
    })
    const { token } = await app.signIn(bob.email, PASSWORD)
    await app.call(ACCOUNT, { email: NOBODY }, from('192.0.2.1'))
    await app.call(MAILING['password-reset'], { email: alice.email }, from('192.0.2.2'))
    await app.call(MAILING['sign-in'], { email: alice.email }, from('192.0.2.3'))
    await Promise.all(work.splice(0))
    const codes = Object.fromEntries(app.mails.splice(0).map(({ kind, code }) => [kind, code]))

    isHanging = true
    const send = client(app.port, 20)
    const answers = await all(10_000, (i) => {
      const { headers, ...sent } = asJson({ email: `${i}@example.com` })
      const path = MAILING[MAILING_KINDS[i % MAILING_KINDS.length] as Mailing]
      return send({ ...sent, method: 'POST', path, headers: { ...headers, 'X-Forwarded-For': address(i) } })
    })
    expect(statuses(answers)).toEqual(expected)
    expect(work).toHaveLength(expected[202] as number)
    expect(asked).toBe(expected[202])

    const victim = from('192.0.2.1')
    expect(await app.isIn(token)).toBe(200)
    expect((await app.call(`${TOKEN_PATH}/mail/confirm`, { code: codes['sign-in'] }, victim)).status).toBe(200)
    const reset = { code: codes['password-reset'], password: STRONG }
    expect((await app.call(`${ACCOUNT}/password/reset`, reset, victim)).status).toBe(204)
    expect((await app.call(`${ACCOUNT}/confirm`, { code: codes['sign-up'], password: STRONG }, victim)).status).toBe(
      200,
    )
    await app.signIn(alice.email, STRONG)
  },
)
