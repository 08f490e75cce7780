import { hashSync, verifySync } from '@node-rs/bcrypt'
import { bcrypt, createPasswords } from 'express-token-endpoint'
import { ACCOUNTS, makeStore, PASSWORD } from '../../../support/fixtures.js'
import { JSON_TYPE, login, type Sent } from '../../../support/plain-js/http-client.mjs'
import type { Exhibit, Guard, Step } from '../exhibit.js'
import { loginWith } from '../ours.js'

const ALICE = ACCOUNTS.alice.email
const ATTACKER = 'attacker@example.com'

interface Body {
  email: unknown
  password: unknown
}

/** Makes an endpoint of a function that decides about a parsed body. */
const endpoint =
  (admits: (body: Body) => boolean): Guard =>
  (request) =>
    admits(JSON.parse(String(request.body))) ? 'admitted' : 'refused'

const logsIn = ({ email, password }: Body) => email === ALICE && password === PASSWORD

/** Sends a body to the token endpoint. */
const body = (email: unknown, password: unknown): Step[] => {
  const sent: Sent = { ...login('', ''), headers: { ...JSON_TYPE }, body: JSON.stringify({ email, password }) }
  return [sent]
}

/** Compares a stored value as a document database does, with operators in the query. */
function matches(stored: string, query: unknown): boolean {
  if (typeof query !== 'object' || query === null) return stored === query
  const { $gt, $regex } = query as { $gt?: string; $regex?: string }
  return ($gt !== undefined && stored > $gt) || ($regex !== undefined && new RegExp($regex).test(stored))
}

const queried = () => endpoint(({ email, password }) => matches(ALICE, email) && matches(PASSWORD, password))

const LONG = 'p'.repeat(72)
const LONG_HASH = hashSync(LONG, 4)

const common = { control: () => body(ALICE, PASSWORD), ours: loginWith() }

/** A login must take an e-mail address and a password as text, and compare all of it. */
export const LOGIN: Exhibit[] = [
  {
    id: 'CVE-2019-18818',
    fault: 'An object instead of a code is a query that matches any code.',
    faulty: queried,
    ...common,
    attack: () => body(ALICE, { $gt: '' }),
    refusal: 'invalid_body',
  },
  {
    id: 'CVE-2021-22911',
    fault: 'A regular expression in the query finds a secret one character after the other.',
    faulty: queried,
    ...common,
    attack: () => body(ALICE, { $regex: `^${PASSWORD[0]}` }),
    refusal: 'invalid_body',
  },
  {
    id: 'CVE-2023-7028',
    fault: 'Of an array of addresses, one finds the account and all get the reset link.',
    faulty: () =>
      endpoint((given) => {
        const addresses = [given.email].flat()
        return logsIn(given) || (addresses.includes(ALICE) && addresses.includes(ATTACKER))
      }),
    ...common,
    attack: () => body([ALICE, ATTACKER], 'x'),
    refusal: 'invalid_body',
  },
  {
    id: 'CVE-2022-35924',
    fault: 'A text with two addresses finds one account, and both addresses get the link.',
    faulty: () =>
      endpoint((given) => {
        const addresses = String(given.email).split(',')
        return logsIn(given) || (addresses.includes(ALICE) && addresses.includes(ATTACKER))
      }),
    ...common,
    attack: () => body(`${ATTACKER},${ALICE}`, 'x'),
    refusal: 'invalid_credentials: unknown_account',
  },
  {
    id: 'CVE-2019-19844',
    fault: 'An address that equals another one in upper case finds its account, and gets the reset link.',
    faulty: () => endpoint((given) => logsIn(given) || String(given.email).toUpperCase() === ALICE.toUpperCase()),
    ...common,
    // The dotless i becomes the capital letter of i.
    attack: () => body(ALICE.replace('i', 'ı'), 'x'),
    refusal: 'invalid_credentials: unknown_account',
  },
  {
    id: 'CVE-2019-16109',
    fault: 'A blank token matches a record with a blank token.',
    faulty: () => {
      const stored: Record<string, string> = { [ALICE]: PASSWORD, [ACCOUNTS.passwordless.email]: '' }
      return endpoint(({ email, password }) => stored[String(email)] === password)
    },
    ...common,
    attack: () => body(ACCOUNTS.passwordless.email, ''),
    refusal: 'invalid_credentials: no_password',
  },
  {
    id: 'CVE-2025-22228',
    fault: 'bcrypt compares the first 72 bytes of a password.',
    faulty: () => endpoint(({ password }) => verifySync(String(password), LONG_HASH)),
    attack: () => body(ALICE, `${LONG} and any other text`),
    control: () => body(ALICE, LONG),
    ours: loginWith({
      accounts: makeStore([{ ...ACCOUNTS.alice, passwordHash: LONG_HASH }]),
      passwords: createPasswords({ hashers: [bcrypt({ cost: 4 })] }),
    }),
    refusal: 'invalid_credentials: wrong_password',
  },
]
