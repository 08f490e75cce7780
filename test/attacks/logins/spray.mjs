// node test/attacks/logins/spray.mjs: attacks on the failed-login limits with and without the option `spraying`, as the table of
// docs/explanation/password-spraying.md.
import { createThrottle } from 'express-token-endpoint'
import { belowTheLimit, mostCommon, oneAfterTheOther, people, rotating, simulate } from './simulation.mjs'

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
  population: people(ACCOUNTS, 1),
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

const print = (line) => process.stdout.write(`${line}\n`)
const number = new Intl.NumberFormat('en')
const percent = (part, whole, digits) => (whole > 0 ? `${((100 * part) / whole).toFixed(digits)} %` : '–')

print(
  '| attack | guesses | reach a hash | fewer | accounts taken over | valid logins with 429 by this limit | by other limits |',
)
print('| --- | --: | --: | --: | --: | --: | --: |')
const results = []
// A word in an argument selects the attacks whose names have it.
const words = process.argv.slice(2)
const selected = Object.entries(ATTACKS).filter(([name]) => words.every((word) => name.includes(word)))
for (const [name, changes] of selected) {
  const result = await simulate(createThrottle, { ...CAMPAIGN, ...changes })
  const { made, hashed, takenOver, valid } = result
  results.push(result)
  const cells = [
    name,
    number.format(made),
    number.format(hashed),
    percent(made - hashed, made, 2),
    number.format(takenOver),
    percent(valid.refused, valid.logins, 3),
    percent(valid.refusedByOthers, valid.logins, 3),
  ]
  print(`| ${cells.join(' | ')} |`)
}

const [{ made, hashed, valid }] = results
if (words.length === 0 && (hashed > made / 100 || valid.refused > valid.logins / 1000)) {
  process.stderr.write(
    'The first attack misses its demand: 99 % fewer guesses, and at most 0.1 % of valid logins with 429.\n',
  )
  process.exitCode = 1
}
