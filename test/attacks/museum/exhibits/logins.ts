import { isDeepStrictEqual } from 'node:util'
import { hashSync, verifySync } from '@node-rs/bcrypt'
import { bcrypt, createLimits, createPasswords } from 'express-token-endpoint'
import { deferred } from '../../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeStore, PASSWORD } from '../../../support/fixtures.js'
import { JSON_TYPE, login, type Sent, send } from '../../../support/plain-js/http-client.mjs'
import type { Guard, Hall, Library, Ours, Step } from '../exhibit.js'
import { loginWith } from '../ours.js'
import { BETTER_AUTH, betterAuthApp } from './better-auth.js'

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

/** Our login endpoint, and the refusal of the attack. */
const ordinary = (refusal: string) => ({ control: () => body(ALICE, PASSWORD), ours: loginWith(), refusal })

/** A login must take an e-mail address and a password as text, and compare all of it. */
export const LOGIN: Hall = {
  'CVE-2019-18818': {
    source: 'https://github.com/advisories/GHSA-6xc2-mj39-q599',
    year: 2019,
    versions: 'Strapi < 3.0.0-beta.17.5',
    fault: 'An object instead of a code is a query that matches any code.',
    faulty: queried,
    attack: () => body(ALICE, { $gt: '' }),
    ...ordinary('invalid_body'),
  },
  'CVE-2021-22911': {
    source: 'https://hackerone.com/reports/1130721',
    year: 2021,
    versions: 'Rocket.Chat 3.12.1 and others',
    fault: 'A regular expression in the query finds a secret one character after the other.',
    faulty: queried,
    attack: () => body(ALICE, { $regex: `^${PASSWORD[0]}` }),
    ...ordinary('invalid_body'),
  },
  'CVE-2023-7028': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2023-7028',
    year: 2024,
    versions: 'GitLab 16.1 to 16.7.1',
    fault: 'Of an array of addresses, one finds the account and all get the reset link.',
    faulty: () =>
      endpoint((given) => {
        const addresses = [given.email].flat()
        return logsIn(given) || (addresses.includes(ALICE) && addresses.includes(ATTACKER))
      }),
    attack: () => body([ALICE, ATTACKER], 'x'),
    ...ordinary('invalid_body'),
  },
  'CVE-2022-35924': {
    source: 'https://github.com/advisories/GHSA-xv97-c62v-4587',
    year: 2022,
    versions: 'next-auth < 3.29.10, 4.0.0 to 4.10.2',
    fault: 'A text with two addresses finds one account, and both addresses get the link.',
    faulty: () =>
      endpoint((given) => {
        const addresses = String(given.email).split(',')
        return logsIn(given) || (addresses.includes(ALICE) && addresses.includes(ATTACKER))
      }),
    attack: () => body(`${ATTACKER},${ALICE}`, 'x'),
    ...ordinary('invalid_credentials: unknown_account'),
  },
  'CVE-2019-19844': {
    source: 'https://github.com/advisories/GHSA-vfq6-hq5r-27r6',
    year: 2019,
    versions: 'Django < 1.11.27, < 2.2.9, < 3.0.1',
    fault: 'An address that equals another one in upper case finds its account, and gets the reset link.',
    faulty: () => endpoint((given) => logsIn(given) || String(given.email).toUpperCase() === ALICE.toUpperCase()),
    // The dotless i becomes the capital letter of i.
    attack: () => body(ALICE.replace('i', 'ı'), 'x'),
    ...ordinary('invalid_credentials: unknown_account'),
  },
  'CVE-2019-16109': {
    source: 'https://github.com/advisories/GHSA-fcjw-8rhj-gwwc',
    year: 2019,
    versions: 'Devise < 4.7.1',
    fault: 'A blank token matches a record with a blank token.',
    faulty: () => {
      const stored: Record<string, string> = { [ALICE]: PASSWORD, [ACCOUNTS.passwordless.email]: '' }
      return endpoint(({ email, password }) => stored[String(email)] === password)
    },
    attack: () => body(ACCOUNTS.passwordless.email, ''),
    ...ordinary('invalid_credentials: no_password'),
  },
  'CVE-2025-22228': {
    source: 'https://github.com/advisories/GHSA-mg83-c7gq-rv5c',
    year: 2025,
    versions: 'Spring Security 6.3.0 to 6.3.7, 6.4.0 to 6.4.3 and others',
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
}

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
const eager = (refusalOf: (account: Known | undefined, password: string) => string | undefined) =>
  oracle((request) => {
    const { email, password } = JSON.parse(String(request.body))
    const account: Known | undefined = Object.values(ACCOUNTS).find((one) => one.email === email)
    const early = refusalOf(account, password)
    if (early !== undefined) return { status: 403, body: early, hashed: 0 }
    const isRight = account?.passwordHash === `plain:${password}` && !account.disabled
    return { status: isRight ? 200 : 403, body: '', hashed: 1 }
  })

type CountingHasher = Parameters<typeof fastPasswords>[0] & { asked: string[] }

async function ourOracle(hasher: CountingHasher = countingHasher(), accounts = makeStore()): Promise<Ours> {
  const { port, refusals } = await loginWith({ passwords: fastPasswords(hasher), accounts })()
  const attempt = async (request: Sent) => {
    const before = hasher.asked.length
    const { status, body } = await send(port, request)
    return { status, body, hashed: hasher.asked.length - before }
  }
  return { guard: oracle(attempt), refusals }
}

/** Creates a hasher of bcrypt that counts its checks. */
function countingBcrypt() {
  const { accepts, hash, verify } = bcrypt({ cost: 4 })
  const asked: string[] = []
  const counted = (password: string, stored: string) => {
    asked.push(stored)
    return verify(password, stored)
  }
  return { accepts, hash, verify: counted, asked }
}

const looking = {
  control: () => [login(ACCOUNTS.alice.email, PASSWORD)],
  ours: () => ourOracle(),
  // The last request of the oracle has an unknown address.
  refusal: 'invalid_credentials: unknown_account',
}

/** A refused login must not show whether the address has an account: not in its response, and not in its work. */
export const ENUMERATION: Hall = {
  'CVE-2018-6188': {
    source: 'https://github.com/advisories/GHSA-rf4j-j272-fj86',
    year: 2018,
    versions: 'Django 1.11.8, 1.11.9, 2.0 to 2.0.1',
    fault: 'A login with a wrong password tells that an account is inactive.',
    faulty: () => eager((account) => (account?.disabled ? 'This account is inactive.' : undefined)),
    attack: () => [login(ACCOUNTS.disabled.email, 'wrong')],
    ...looking,
  },
  'CVE-2021-29621': {
    source: 'https://github.com/dpgaspar/Flask-AppBuilder/security/advisories/GHSA-434h-p4gx-jm89',
    year: 2021,
    versions: 'Flask-AppBuilder < 3.3.0',
    fault: 'A password is hashed only when the account exists, which takes longer.',
    faulty: () => eager((account) => (account ? undefined : '')),
    attack: () => [login(ACCOUNTS.alice.email, 'wrong')],
    ...looking,
  },
  'CVE-2024-39329': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2024-39329',
    year: 2024,
    versions: 'Django 4.2 to 4.2.13, 5.0 to 5.0.6',
    fault: 'An account without a usable password is refused sooner than an unknown one.',
    faulty: () => eager((account) => (account?.passwordHash === null ? '' : undefined)),
    attack: () => [login(ACCOUNTS.passwordless.email, 'wrong')],
    ...looking,
  },
  'CVE-2025-22234': {
    source: 'https://spring.io/security/cve-2025-22234/',
    year: 2025,
    versions: 'Spring Security 5.7.16, 5.8.18, 6.3.8, 6.4.4 and others',
    fault:
      'The new length limit of bcrypt breaks the equal work for unknown addresses, so the time of a refusal tells who has an account.',
    faulty: () => eager((account, password) => (account && Buffer.byteLength(password) > 72 ? '' : undefined)),
    attack: () => [login(ALICE, `${LONG} and any other text`)],
    ...looking,
    ours: () => ourOracle(countingBcrypt(), makeStore([{ ...ACCOUNTS.alice, passwordHash: hashSync(PASSWORD, 4) }])),
  },
  'CVE-2026-22746': {
    source: 'https://spring.io/security/cve-2026-22746',
    year: 2026,
    versions: 'Spring Security 5.7.0 to 5.7.22, 6.5.0 to 6.5.9, 7.0.0 to 7.0.4 and others',
    fault: 'A disabled account is refused sooner than an unknown one.',
    faulty: () => eager((account) => (account?.disabled ? '' : undefined)),
    attack: () => [login(ACCOUNTS.disabled.email, 'wrong')],
    ...looking,
  },
}

const LIMIT = 10
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

const limited = {
  control: () => [login(ALICE, PASSWORD)],
  ours: loginWith({}, CHECKED),
  refusal: 'too_many_attempts',
}

/** Returns our endpoint with a store that finds no account for Alice until ten guesses have arrived. The eleventh one waits for them. */
function ourSimultaneous() {
  const { promise, resolve } = deferred<void>()
  let arrived = 0
  const accounts = async (email: string) => {
    if (email === ALICE && ++arrived === LIMIT) resolve()
    if (email === ALICE) await promise
    return makeStore().findByEmail(email)
  }
  return loginWith({ accounts }, CHECKED)()
}

const [GUESSER, VICTIM] = ['::ffff:192.0.2.1', '::ffff:198.51.100.7']

/** Makes a guard of a limit. It admits a valid login, and an attack whose victim is refused because of the guesses of another client. */
const shutOut =
  (attempt: (request: Sent) => Promise<number>): Guard =>
  async (request) => {
    const status = await attempt(request)
    const isAttack = address(request) === VICTIM ? status === 429 : status === 200
    return isAttack ? 'admitted' : 'refused'
  }

/** The middleware in front of a login that refuses every password but the valid one. */
function rateLimited({ rateLimit }: Library): Guard {
  const limiter = rateLimit({ limit: LIMIT, validate: false })
  return shutOut(
    (request) =>
      new Promise((resolve) => {
        const isValid = JSON.parse(String(request.body)).password === PASSWORD
        const res = { setHeader() {}, status: resolve, send() {} }
        limiter({ ip: address(request) }, res, () => resolve(isValid ? 200 : 403))
      }),
  )
}

async function ourNetworkLimit(): Promise<Ours> {
  const limits = createLimits({ limits: { address: { points: LIMIT, duration: '1h' } } })
  const { port, refusals } = await loginWith({ limits })()
  return { guard: shutOut(async (request) => (await send(port, request)).status), refusals }
}

/** The route of Better Auth for a sign-in, and the limit that belongs to its path. A checked password counts as admitted. */
function betterAuthLimit(): Guard {
  const { call } = betterAuthApp(BETTER_AUTH, { rateLimit: { enabled: true } })
  return async ({ path, body, headers }) => {
    const { status } = await call(
      String(path).slice('/auth'.length).replace('token', 'sign-in/email'),
      String(body),
      headers,
    )
    return [200, 401].includes(status) ? 'admitted' : 'refused'
  }
}

const simultaneous = {
  together: true as const,
  control: () => [login(ACCOUNTS.bob.email, PASSWORD)],
  ours: ourSimultaneous,
  refusal: 'too_many_attempts',
}

/** The eleventh password must not be checked, even if the request looks different. */
export const LIMITS: Hall = {
  'CVE-2019-5421': {
    source: 'https://github.com/advisories/GHSA-73rf-6mrf-759q',
    year: 2019,
    versions: 'Devise < 4.6.0',
    fault: 'Simultaneous failures overwrite each other in the count.',
    faulty: countedAfterwards,
    attack: guesses(() => login(ALICE, 'guess')),
    ...simultaneous,
  },
  'CVE-2024-4629': {
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2024-4629',
    year: 2024,
    versions: 'Keycloak <= 22.0.11, <= 24.0.6, <= 25.0.2',
    fault: 'Simultaneous logins pass the brute-force protection before it has counted them.',
    faulty: countedAfterwards,
    attack: guesses((i) => login(ALICE, `guess ${i}`)),
    ...simultaneous,
  },
  'CVE-2023-38507': {
    source: 'https://github.com/advisories/GHSA-24q2-59hm-rh9r',
    year: 2023,
    versions: 'Strapi < 4.12.1',
    fault: 'Another spelling of the path has its own limit.',
    faulty: () => limitedBy((request) => `${request.path} ${address(request)}`),
    attack: guesses((i) => login(ALICE, 'guess', '192.0.2.1', i < LIMIT ? '/auth/token' : '/AUTH/token')),
    control: () => [login(ALICE, PASSWORD, '192.0.2.1', '/auth/token')],
    // Express ignores the letter case of the path of a mounted router.
    ours: loginWith({ path: '/token' }, CHECKED, '/auth'),
    refusal: 'too_many_attempts',
  },
  'CVE-2025-64526': {
    source: 'https://github.com/advisories/GHSA-7mqx-wwh4-f9fw',
    year: 2026,
    versions: 'Strapi < 5.45.0',
    fault: 'The limit belongs to a member of the body that the login does not use.',
    faulty: () => limitedBy((request) => `${JSON.parse(String(request.body)).username} ${address(request)}`),
    attack: guesses((i) => {
      const sent = login(ALICE, 'guess')
      return { ...sent, body: JSON.stringify({ ...JSON.parse(sent.body), username: `user ${i}` }) }
    }),
    ...limited,
  },
  'CVE-2026-45364': {
    source: 'https://github.com/advisories/GHSA-p6v2-xcpg-h6xw',
    year: 2026,
    versions: 'better-auth < 1.4.17',
    fault: 'Each IPv6 address has its own limit, and a subscriber has 2^64 of them.',
    faulty: () => limitedBy(address),
    attack: guesses((i) => login(ALICE, 'guess', `2001:db8:1:2::${i + 1}`)),
    ...limited,
  },
  'CVE-2025-71399': {
    source: 'https://github.com/advisories/GHSA-x732-6j76-qmhm',
    year: 2025,
    versions: 'better-auth < 1.4.5',
    fault: 'A path with two slashes reaches the same route, but has no limit.',
    installed: BETTER_AUTH,
    faulty: betterAuthLimit,
    attack: guesses((i) => login(ALICE, 'guess', '192.0.2.1', i < LIMIT ? '/auth/token' : '/auth//token')),
    // All apps of Better Auth in a process share a limit, and the attack has used it up.
    control: () => [{ wait: 60_000 }, login(ALICE, PASSWORD, '192.0.2.1', '/auth/token')],
    // Express finds no route for two slashes, so this host makes one of them, as many proxies do.
    ours: loginWith({ path: '/token' }, CHECKED, '/auth', (req, _res, next) => {
      req.url = req.url.replace(/\/{2,}/g, '/')
      next()
    }),
    refusal: 'too_many_attempts',
  },
  'CVE-2026-30827': {
    source: 'https://github.com/express-rate-limit/express-rate-limit/security/advisories/GHSA-46wh-pxpv-q5gq',
    year: 2026,
    versions: 'express-rate-limit 8.0.0, 8.0.1, 8.1.0, 8.2.0, 8.2.1',
    fault: 'IPv4 addresses in their IPv6 form share one limit, so one client locks all others out.',
    installed: 'express-rate-limit-8.2.1',
    faulty: rateLimited,
    attack: () => [
      ...guesses((i) => login(`user-${i}@example.com`, 'guess', GUESSER))(),
      login(ALICE, PASSWORD, VICTIM),
    ],
    control: () => [login(ALICE, PASSWORD, GUESSER)],
    ours: ourNetworkLimit,
    // The refusal of the last guess. The victim is not refused.
    refusal: 'too_many_attempts',
  },
}
