import express from 'express'
import { createThrottle, memoryAccounts, type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { all } from '../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { client, listen, login, sendBytes } from '../../support/http.js'
import { FORM_TYPE, requestText, type Sent } from '../../support/plain-js/http-client.mjs'

const { alice, disabled, passwordless } = ACCOUNTS
const NOBODY = 'nobody@example.com'

async function start(options: Partial<TokenRouterOptions> = {}) {
  const hasher = countingHasher()
  const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(hasher) }
  const app = express()
    .set('trust proxy', 1)
    .use(tokenRouter({ ...parts, ...options }))
  const { port } = await listen(app)
  /** Returns all bytes of a response but for its times. */
  const bytesOf = async (sent: Sent) => {
    const bytes = await sendBytes(port, requestText({ ...sent, headers: { ...sent.headers, Connection: 'close' } }))
    expect(bytes).toMatch(/\r\nDate: [^\r]+\r\n/)
    return bytes.replace(/\r\n(Date|Retry-After): [^\r]+/g, '')
  }
  return { send: client(port), bytesOf, hasher }
}

const asForm = (email: string, password: string): Sent => ({
  headers: FORM_TYPE,
  body: new URLSearchParams({ email, password }).toString(),
})

describe('refused logins cannot be told apart', () => {
  it('the same answer, to the byte', async () => {
    const { bytesOf } = await start({ throttle: false })
    const none = await start({ accounts: memoryAccounts([]) })
    const answers = new Set([await none.bytesOf(login(alice.email, 'wrong'))])
    for (const [email, password] of [
      [NOBODY, PASSWORD],
      [NOBODY, ''],
      ['', PASSWORD],
      [`${alice.email}\0`, PASSWORD],
      [alice.email, 'wrong'],
      [alice.email, ''],
      [alice.email, 'x'.repeat(5000)],
      [disabled.email, PASSWORD],
      [disabled.email, 'wrong'],
      [passwordless.email, PASSWORD],
      [passwordless.email, ''],
    ] as const) {
      answers.add(await bytesOf(login(email, password)))
      answers.add(await bytesOf(asForm(email, password)))
    }
    expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 403 Forbidden\r\n(.+\r\n)+\r\n$/)])
    expect(none.hasher.asked).toHaveLength(1)
  })

  it.each<[string, Partial<TokenRouterOptions>, string]>([
    ['after ten wrong guesses', {}, 'guess'],
    ['after a sprayed password, also for the right one', { throttle: createThrottle({ spraying: true }) }, PASSWORD],
  ])('a 429 tells nothing about the account: the same bytes %s', async (_, options, password) => {
    const { send, bytesOf } = await start(options)
    const address = '203.0.113.9'
    if (options.throttle) await all(100, (i) => send(login(`${i}@example.com`, password, address)))
    const answers = new Set<string>()
    for (const email of [alice.email, NOBODY, disabled.email, passwordless.email, '', '\0']) {
      if (!options.throttle) await all(10, () => send(login(email, password, address)))
      answers.add(await bytesOf(login(email, password, address)))
    }
    expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 429 Too Many Requests\r\n/)])
    expect([...answers].join()).not.toContain('spraying')
  })
})
