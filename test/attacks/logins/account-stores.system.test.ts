import { describe, expect, it } from 'vitest'
import { ACCOUNT } from '../../support/account-app.js'
import { STORES, startProcesses, USES } from '../../support/account-processes.js'
import { all } from '../../support/concurrency.js'
import { TOKEN_PATH } from '../../support/http.js'

const ROUNDS = 8

describe.each(STORES)('three processes on one %s, with uses of one code at once', (name, isMissing, open) => {
  it.skipIf(isMissing)('let one of them sign up, reset and sign in', { timeout: 300_000 }, async () => {
    const { post, codeOf, onlyOne, failures } = await startProcesses(name, await open())
    const passwordOf = (act: string, i: number) => `the password of the ${act} ${i}`

    await all(ROUNDS, async (round) => {
      const email = `${round}@example.com`
      const signUp = await codeOf('sign-up', ACCOUNT, email)
      const confirm = (i: number) => post(`${ACCOUNT}/confirm`, { code: signUp, password: passwordOf('sign-up', i) })
      const { at: first } = await onlyOne(200, [403, 409], confirm)
      const signIn = (password: string) => post(TOKEN_PATH, { email, password })
      expect((await signIn(passwordOf('sign-up', first))).status).toBe(200)

      const reset = await codeOf('password-reset', `${ACCOUNT}/password/forgotten`, email)
      const set = (i: number) => post(`${ACCOUNT}/password/reset`, { code: reset, password: passwordOf('reset', i) })
      const { at: second } = await onlyOne(204, [403], set)
      for (let i = 0; i < USES; i++)
        expect((await signIn(passwordOf('reset', i))).status).toBe(i === second ? 200 : 403)

      const mailed = await codeOf('sign-in', `${TOKEN_PATH}/mail`, email)
      // A process checks one use of a mailed code at a time.
      await onlyOne(200, [403, 503], () => post(`${TOKEN_PATH}/mail/confirm`, { code: mailed }))
    })
    expect(failures).toEqual([])
  })
})
