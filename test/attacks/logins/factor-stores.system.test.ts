import { describe, expect, it } from 'vitest'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { ACCOUNT } from '../../support/account-app.js'
import { STORES, startProcesses } from '../../support/account-processes.js'
import { fromBase32 } from '../../support/base32.js'
import { all } from '../../support/concurrency.js'
import { TOKEN_PATH } from '../../support/http.js'

const ROUNDS = 6
/** More than an account may have. */
const KEYS = 24

describe.each(STORES)('three processes on one %s, with uses of one factor at once', (name, isMissing, open) => {
  it.skipIf(isMissing)('let one of them set up, sign in and use a recovery code', { timeout: 300_000 }, async () => {
    const { post, codeOf, onlyOne, failures } = await startProcesses(name, await open())

    await all(ROUNDS, async (round) => {
      const account = { email: `${round}@example.com`, password: 'the password of the second factor' }
      const code = await codeOf('sign-up', ACCOUNT, account.email)
      const signedUp = await post(`${ACCOUNT}/confirm`, { code, password: account.password })
      const { authenticationToken: token } = JSON.parse(signedUp.body)

      const begun = await post(`${ACCOUNT}/totp`, {}, token)
      const secret = fromBase32(JSON.parse(begun.body).secret)
      // The code of the next step is accepted too, so the test does not wait for it.
      const step = stepAt(Date.now())
      const first = totpAt(secret, step)
      const { body } = await onlyOne(200, [403], () => post(`${ACCOUNT}/totp/confirm`, { otp: first }, token))
      const signIn = (otp: string) => post(TOKEN_PATH, { ...account, otp })
      await onlyOne(200, [403], () => signIn(totpAt(secret, step + 1)))
      for (const recoveryCode of JSON.parse(body).recoveryCodes.slice(0, 2))
        await onlyOne(200, [403], () => signIn(recoveryCode))
    })
    expect(failures).toEqual([])
  })

  it.skipIf(isMissing)('give an account at most twenty API keys', { timeout: 300_000 }, async () => {
    const { post, codeOf, failures } = await startProcesses(name, await open())
    const code = await codeOf('sign-up', ACCOUNT, 'keys@example.com')
    const signedUp = await post(`${ACCOUNT}/confirm`, { code, password: 'the password of the API keys' })
    const { authenticationToken: token } = JSON.parse(signedUp.body)
    const make = (i: number) => post(`${ACCOUNT}/api-keys`, { name: `${i}` }, token)
    const made = (await all(KEYS, make)).map(({ status }) => status)
    for (const status of made) expect([201, 409]).toContain(status)
    // Two that are added at once may both be too many.
    let count = made.filter((status) => status === 201).length
    expect(count).toBeLessThanOrEqual(20)
    while ((await make(count)).status === 201) count++
    expect([count, failures]).toEqual([20, []])
  })
})
