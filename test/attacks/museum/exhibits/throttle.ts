import express from 'express'
import { tokenRouter } from 'express-token-endpoint'
import { deferred } from '../../../support/concurrency.js'
import { ACCOUNTS, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../../support/fixtures.js'
import { login, type Sent } from '../../../support/plain-js/http-client.mjs'
import type { Exhibit, Guard } from '../exhibit.js'
import { loginWith, serve } from '../ours.js'

const LIMIT = 10
const ALICE = ACCOUNTS.alice.email
const address = ({ headers = {} }: Sent) => String(headers['X-Forwarded-For'])

/** A model of a login that checks at most ten passwords for one key. A checked password counts as admitted. */
const limitedBy = (keyOf: (request: Sent) => string): Guard => {
  const counts = new Map<string, number>()
  return (request) => {
    const count = counts.get(keyOf(request)) ?? 0
    counts.set(keyOf(request), count + 1)
    return count < LIMIT ? 'admitted' : 'refused'
  }
}

/** A model of a login that reads the count before it checks the password, and writes it afterwards. */
const countedAfterwards = (): Guard => {
  let count = 0
  return async () => {
    const read = count
    await Promise.resolve()
    count = read + 1
    return read < LIMIT ? 'admitted' : 'refused'
  }
}

/** Guesses a password one time more than the limit allows. */
const guesses = (guess: (i: number) => Sent) => () => Array.from({ length: LIMIT + 1 }, (_, i) => guess(i))

/** The statuses of a login whose password was checked. */
const CHECKED = [200, 403]

const common = {
  control: () => [login(ALICE, PASSWORD)],
  ours: loginWith({}, CHECKED),
  refusal: 'too_many_attempts',
}

/** Returns our endpoint with a store that finds no account for Alice until ten guesses have arrived. The eleventh one waits for them. */
const ourSimultaneous = () =>
  serve((onEvent) => {
    const { promise, resolve } = deferred<void>()
    let arrived = 0
    const arrive = () => {
      arrived++
      if (arrived === LIMIT) resolve()
    }
    const store = makeStore()
    const accounts = async (email: string) => {
      if (email === ALICE) {
        arrive()
        await promise
      }
      return store.findByEmail(email)
    }
    const parts = { tokens: makeIssuer(), passwords: fastPasswords() }
    return express()
      .set('trust proxy', 1)
      .use(tokenRouter({ ...parts, accounts, onEvent }))
  }, CHECKED)

const simultaneous = {
  together: true as const,
  control: () => [login(ACCOUNTS.bob.email, PASSWORD)],
  ours: ourSimultaneous,
  refusal: 'too_many_attempts',
}

/** The eleventh password must not be checked, even if the request looks different. */
export const THROTTLE: Exhibit[] = [
  {
    id: 'CVE-2019-5421',
    fault: 'Simultaneous failures overwrite each other in the count.',
    faulty: countedAfterwards,
    attack: guesses(() => login(ALICE, 'guess')),
    ...simultaneous,
  },
  {
    id: 'CVE-2024-4629',
    fault: 'Simultaneous logins pass the brute-force protection before it has counted them.',
    faulty: countedAfterwards,
    attack: guesses((i) => login(ALICE, `guess ${i}`)),
    ...simultaneous,
  },
  {
    id: 'CVE-2023-38507',
    fault: 'Another spelling of the path has its own limit.',
    faulty: () => limitedBy((request) => `${request.path} ${address(request)}`),
    attack: guesses((i) => login(ALICE, 'guess', '192.0.2.1', i < LIMIT ? '/auth/token' : '/AUTH/token')),
    control: () => [login(ALICE, PASSWORD, '192.0.2.1', '/auth/token')],
    ours: () =>
      serve((onEvent) => {
        const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
        // Express ignores the letter case of the path of a mounted router.
        return express()
          .set('trust proxy', 1)
          .use('/auth', tokenRouter({ ...parts, onEvent, path: '/token' }))
      }, CHECKED),
    refusal: 'too_many_attempts',
  },
  {
    id: 'CVE-2025-64526',
    fault: 'The limit belongs to a member of the body that the login does not use.',
    faulty: () => limitedBy((request) => `${JSON.parse(String(request.body)).username} ${address(request)}`),
    attack: guesses((i) => {
      const sent = login(ALICE, 'guess')
      return { ...sent, body: JSON.stringify({ ...JSON.parse(sent.body), username: `user ${i}` }) }
    }),
    ...common,
  },
  {
    id: 'CVE-2026-45364',
    fault: 'Each IPv6 address has its own limit, and a subscriber has 2^64 of them.',
    faulty: () => limitedBy(address),
    attack: guesses((i) => login(ALICE, 'guess', `2001:db8:1:2::${i + 1}`)),
    ...common,
  },
]
