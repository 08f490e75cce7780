// Password spraying on the failed-login limits: real limits, a simulated clock, and no hashes. `node test/attacks/logins/spray.mjs` prints
// the table of docs/evidence/password-spraying.md. Words in its arguments select the attacks whose names have them.
import { fileURLToPath } from 'node:url'
import { createThrottle } from 'express-token-endpoint'
import { random } from '../../support/plain-js/random.mjs'

/** The share of accounts that use the most common of all passwords. In the RockYou leak, that is 0.89 %. */
const MOST_COMMON = 0.0089

/** The number of common passwords. The one with rank r is 1/r as common as the first, so 4.6 % of accounts use one of them. */
const COMMON = 100

const DAY = 86_400_000
/** An attacker makes its guesses in steps of this length: half an hour. The limit for addresses allows 50 guesses in it. */
const STEP = DAY / 48
const MOST_PER_STEP = 50

const ipv4 = (number) => [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.')

/** The first addresses of each kind of network. */
const [HOMES, OFFICES, CARRIERS, TRAVEL, BOTS] = [1, 2, 3, 4, 5].map((number) => number * 2 ** 28)

/** Returns the rank of a common password, or 0 for a password that nobody else uses. */
function commonRank(draw) {
  let left = draw
  for (let rank = 1; rank <= COMMON; rank++) {
    left -= MOST_COMMON / rank
    if (left < 0) return rank
  }
  return 0
}

/** Returns the rank of a common password, drawn from the common passwords only. */
function popularRank(next) {
  for (;;) {
    const rank = commonRank(next() * 0.0462)
    if (rank > 0) return rank
  }
}

const emailOf = (account) => `${account}@example.com`

/**
 * Draws the address of a login. Of all logins, 60 % come from a home with 2.5 accounts, and 15 % from an office with 1,000 accounts.
 * Another 23 % come from a mobile carrier, which shares an address between 500 accounts and changes it at each login. The last 2 % come
 * from a place where the person is for the first time.
 */
function addressOf(account, size, next) {
  const kind = next()
  if (kind < 0.6) return HOMES + Math.floor(account / 2.5)
  if (kind < 0.75) return OFFICES + Math.floor(account / 1000)
  if (kind < 0.98) return CARRIERS + Math.floor(next() * Math.max(1, size / 500))
  return TRAVEL + Math.floor(next() * size)
}

/**
 * Simulates an attack, and people who log in once a day on average.
 *
 * @param createThrottle the function of this package
 * @param scenario
 *   spraying: the option of `createThrottle` · accounts, addresses, days, guesses: the size of the attack, which spreads its guesses
 *   evenly and is never faster than the other limits · order: the password and the account of each guess · overlap: the share of the
 *   attacker's addresses that belong to networks of the people · warmUp: days of logins before the attack · sample: the share of
 *   people who log in (their networks are complete) · ownLogins: the attacker logs in to an own account before each guess
 */
export async function simulate(createThrottle, scenario) {
  const { spraying, accounts, addresses, days, guesses, order, overlap, warmUp, ownLogins = false, seed = 1 } = scenario
  const { sample = 1 } = scenario
  const draw = random(seed)
  const ranks = Uint8Array.from({ length: accounts }, () => commonRank(draw()))
  const next = random(seed + 1)
  const realNow = performance.now
  let now = 1000
  performance.now = () => now
  try {
    const throttle = createThrottle({ spraying })
    const digests = new Map()
    /** Returns undefined for an attempt that reaches a hash, otherwise the time until which it is refused. */
    const attempt = async (account, address, password, right) => {
      const digest = digests.get(password) ?? throttle.digestPassword?.(password)
      if (password.startsWith('common')) digests.set(password, digest)
      try {
        const begun = await throttle.consume(emailOf(account), ipv4(address), () => {}, digest)
        if (right) begun.end('succeeded')
        else await begun.end('failed')
        return undefined
      } catch (error) {
        if (error.code !== 'too_many_attempts') throw error
        return { limit: error.limit, until: now + Number(error.headers['Retry-After']) * 1000 }
      }
    }

    const passwordOf = (account) => (ranks[account] === 0 ? `own ${account}` : `common ${ranks[account]}`)
    const size = Math.round(accounts * sample)
    const common = []
    for (let i = 0; i < size; i++) if (ranks[i] > 0) common.push(i)
    const valid = { logins: 0, refused: 0, refusedByOthers: 0 }
    let typos = 0

    /** One login of a person: perhaps with mistakes before it. Returns the last result, which is that of the right password. */
    async function logIn(account, mistakes) {
      const address = addressOf(account, size, next)
      const isCommon = ranks[account] > 0
      for (let i = 0; i < mistakes; i++) {
        // Four of ten mistakes are another password of the person. People with a common password often have another one.
        const other = next() < 0.4
        const popular = other && next() < (isCommon ? 0.4 : 0.0462)
        const wrong = popular ? `common ${popularRank(next)}` : `typo ${typos++}`
        if (wrong === passwordOf(account)) continue
        await attempt(account, address, wrong, false)
      }
      return attempt(account, address, passwordOf(account), true)
    }

    /**
     * The logins of one step. Logins without a mistake and with a password that nobody else uses never meet this limit and only add known
     * pairs, so they are counted but not run.
     */
    async function peopleFor(ms, counts) {
      const share = ms / DAY
      const mistaken = new Set()
      for (let i = Math.round(size * share * 0.07); i > 0; i--) mistaken.add(Math.floor(next() * size))
      for (let i = Math.round(common.length * share * 0.93); i > 0; i--) {
        const account = common[Math.floor(next() * common.length)]
        tally(counts, await logIn(account, 0))
      }
      for (const account of mistaken) tally(counts, await logIn(account, next() < 0.3 ? 2 : 1))
      if (counts) counts.logins += Math.round((size - common.length) * share * 0.93)
    }

    for (let t = 0; t < warmUp * DAY; t += STEP) {
      await peopleFor(STEP, undefined)
      now += STEP
    }

    // Addresses of the attacker in networks of the people: a device of a person attacks.
    const bots = Array.from({ length: addresses }, (_, i) =>
      next() < overlap * sample ? addressOf(Math.floor(next() * size), size, next) : BOTS + i,
    )
    const refusedUntil = new Float64Array(addresses)
    const attack = { made: 0, hashed: 0, takenOver: 0 }
    const steps = Math.ceil((days * DAY) / STEP)
    const perStep = Math.min(guesses / steps / addresses, MOST_PER_STEP)
    let owed = 0
    let started = 0
    for (let step = 0; step < steps; step++) {
      owed += perStep
      const quota = Math.floor(owed)
      owed -= quota
      // A refused guess changes nothing, so an address that was refused need not ask again. A password whose window has ended is new,
      // so some refused addresses of each step ask again.
      let probes = 5 * COMMON
      for (let i = 0; i < quota; i++) {
        for (let bot = 0; bot < addresses; bot++) {
          attack.made++
          if (refusedUntil[bot] > now && probes-- <= 0) {
            started++
            continue
          }
          const { account, rank, password } = order(started++, accounts)
          if (ownLogins) await attempt(accounts + bot, bots[bot], `attacker ${bot}`, true)
          const right = rank > 0 && ranks[account] === rank
          const refusal = await attempt(account, bots[bot], password ?? `common ${rank}`, right)
          if (refusal) {
            refusedUntil[bot] = refusal.limit === 'spraying' ? refusal.until : now
            continue
          }
          attack.hashed++
          if (right) attack.takenOver++
        }
      }
      await peopleFor(STEP, valid)
      now += STEP
    }
    return { ...attack, valid }
  } finally {
    performance.now = realNow
  }

  function tally(counts, refusal) {
    if (!counts) return
    counts.logins++
    if (refusal?.limit === 'spraying') counts.refused++
    else if (refusal) counts.refusedByOthers++
  }
}

/** The most common password at all accounts. */
export const mostCommon = (index, accounts) => ({ rank: 1, account: index % accounts })

/** Each password at 19 accounts a day, which is below the limit. Only the first passwords are common ones. */
export const belowTheLimit = (index, accounts) => {
  const number = Math.floor(index / 19) + 1
  return number <= COMMON
    ? { rank: number, account: index % accounts }
    : { rank: 0, account: index % accounts, password: `rare ${number}` }
}

/** Each guess takes the next password, and after all passwords the next account. */
export const rotating = (index, accounts) => ({
  rank: (index % COMMON) + 1,
  account: Math.floor(index / COMMON) % accounts,
})

/** The first password at all accounts, then the second one. */
export const oneAfterTheOther = (index, accounts) => ({
  rank: (Math.floor(index / accounts) % COMMON) + 1,
  account: index % accounts,
})

const ACCOUNTS = 1_000_000
const FAST = 10 / 24

/** The attack of the promise: 100 passwords at a million accounts from 100,000 addresses, as fast as the other limits allow. */
const CAMPAIGN = {
  accounts: ACCOUNTS,
  addresses: 100_000,
  guesses: 100 * ACCOUNTS,
  days: FAST,
  order: rotating,
  overlap: 0.002,
  warmUp: 2,
  sample: 0.1,
  spraying: true,
}

/** Attacks by their names. Each one differs from the first one only in what it names. */
const ATTACKS = {
  'all passwords in turn, 10 hours': {},
  'one password after the other, 10 hours': { order: oneAfterTheOther },
  'with logins to own accounts between the guesses': { ownLogins: true },
  'in 3 days': { days: 3, sample: 0.05 },
  'in 7 days, with 3 failures in 7 days': {
    days: 7,
    sample: 0.02,
    spraying: { address: { points: 3, duration: '7d' } },
  },
  'only the most common password, 1 hour': { order: mostCommon, guesses: ACCOUNTS, days: 1 / 24 },
  'each password at 19 accounts a day': { order: belowTheLimit, guesses: 300_000, days: 1 },
  '2 % of the addresses in networks of people': { overlap: 0.02 },
  '20 % of the addresses there, to lock people out': { overlap: 0.2 },
}

/** Prints a row for each attack whose name has all words. */
async function main(words) {
  const print = (...cells) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
  const percent = (part, whole, digits) => `${((100 * part) / whole).toFixed(digits)} %`
  const numbers = ['guesses', 'reach a hash', 'fewer', 'accounts taken over']
  print('attack', ...numbers, 'valid logins with 429 by this limit', 'by other limits')
  print('---', ...Array(6).fill('--:'))
  for (const [name, changes] of Object.entries(ATTACKS)) {
    if (!words.every((word) => name.includes(word))) continue
    const { made, hashed, takenOver, valid } = await simulate(createThrottle, { ...CAMPAIGN, ...changes })
    print(
      ...[name, made.toLocaleString('en'), hashed.toLocaleString('en'), percent(made - hashed, made, 2)],
      ...[takenOver.toLocaleString('en'), percent(valid.refused, valid.logins, 3)],
      percent(valid.refusedByOthers, valid.logins, 3),
    )
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
