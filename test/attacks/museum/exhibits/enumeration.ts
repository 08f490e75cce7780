import { isDeepStrictEqual } from 'node:util'
import express from 'express'
import { type AuthEvent, tokenRouter } from 'express-token-endpoint'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../../support/fixtures.js'
import { listen } from '../../../support/http.js'
import { login, type Sent, send } from '../../../support/plain-js/http-client.mjs'
import type { Exhibit, Guard, Ours } from '../exhibit.js'

/** The observable part of a login. `hashed` stands for the time that it takes. */
interface Observed {
  status: number
  body: string
  hashed: number
}

/** Makes a guard of a login. It admits a valid login, and a request that shows that the address has an account. */
const oracle =
  (attempt: (request: Sent) => Observed | Promise<Observed>): Guard =>
  async (request) => {
    const seen = await attempt(request)
    if (seen.status === 200) return 'admitted'
    const { password } = JSON.parse(String(request.body))
    return isDeepStrictEqual(seen, await attempt(login('nobody@example.com', password))) ? 'refused' : 'admitted'
  }

type Known = { passwordHash: string | null; disabled?: boolean }

/** A model of a login that returns at its first reason to refuse. */
const eager = (refusalOf: (account: Known | undefined) => string | undefined) =>
  oracle((request) => {
    const { email, password } = JSON.parse(String(request.body))
    const account: Known | undefined = Object.values(ACCOUNTS).find((one) => one.email === email)
    const early = refusalOf(account)
    if (early !== undefined) return { status: 403, body: early, hashed: 0 }
    const isRight = account?.passwordHash === `plain:${password}` && !account.disabled
    return { status: isRight ? 200 : 403, body: '', hashed: 1 }
  })

async function ours(): Promise<Ours> {
  const refusals: string[] = []
  const hasher = countingHasher()
  const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(hasher) }
  const onEvent = (event: AuthEvent) => 'code' in event && refusals.push(event.code)
  const { port } = await listen(
    express()
      .set('trust proxy', 1)
      .use(tokenRouter({ ...parts, onEvent })),
  )
  const attempt = async (request: Sent) => {
    const before = hasher.asked.length
    const { status, body } = await send(port, request)
    return { status, body, hashed: hasher.asked.length - before }
  }
  return { guard: oracle(attempt), refusals }
}

const common = { control: () => [login(ACCOUNTS.alice.email, PASSWORD)], ours, refusal: 'invalid_credentials' }

/** A refused login must not show whether the address has an account: not in its response, and not in its work. */
export const ENUMERATION: Exhibit[] = [
  {
    id: 'CVE-2018-6188',
    fault: 'A login with a wrong password tells that an account is inactive.',
    faulty: () => eager((account) => (account?.disabled ? 'This account is inactive.' : undefined)),
    attack: () => [login(ACCOUNTS.disabled.email, 'wrong')],
    ...common,
  },
  {
    id: 'CVE-2021-29621',
    fault: 'A password is hashed only when the account exists, which takes longer.',
    faulty: () => eager((account) => (account ? undefined : '')),
    attack: () => [login(ACCOUNTS.alice.email, 'wrong')],
    ...common,
  },
  {
    id: 'CVE-2024-39329',
    fault: 'An account without a usable password is refused sooner than an unknown one.',
    faulty: () => eager((account) => (account?.passwordHash === null ? '' : undefined)),
    attack: () => [login(ACCOUNTS.passwordless.email, 'wrong')],
    ...common,
  },
]
