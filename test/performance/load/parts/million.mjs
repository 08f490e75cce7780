import { statSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'libsql'
import { Client } from 'pg'
import { inRounds } from '../../bench/measure/rounds.mjs'
import { withSpread } from '../../bench/report/report.mjs'
import { pairedRatio, summary } from '../../stats.mjs'
import { atEnd } from '../cleanup.mjs'
import { times } from '../clients/crowd.mjs'
import { startPostgres, tempDir } from '../servers/databases.mjs'
import { check, figure } from '../verdicts.mjs'

const { openDatabase } = await import('../../../../example-app/dist/data/databases/database.js')
const { createAccountStore } = await import('../../../../example-app/dist/data/account-store.js')

const FEW = 1000
const MANY = 1_000_000
const SLICE = 1000
const AT_A_TIME = 8
/** Two runs of the same look-ups differ by this factor on a busy machine. */
const NOISE = 1.25

/** A placeholder with the length of a real hash, so that rows have their real size. */
const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'s'.repeat(22)}$${'h'.repeat(43)}`

/** An odd factor maps every number below 2³² to a different number, so keys are unordered, as UUIDs are. */
const FACTOR = 2_654_435_761
const keyOf = (number) => ((BigInt(number) * BigInt(FACTOR)) % 2n ** 32n).toString(16).padStart(8, '0')
const emailOf = (key) => `person.${key}@example.com`
const idOf = (key) => `00000000-0000-4000-8000-0000${key}`

const rowsFrom = (keys) => `
  insert into accounts (id, email, password_hash, scopes)
  select '00000000-0000-4000-8000-0000' || key, 'person.' || key || '@example.com', '${HASH}', '["statements:read"]'
  from (${keys}) as keys`

/** Fills each kind of database. Returns its size in bytes. */
const KINDS = {
  PostgreSQL: {
    async fill({ databaseUrl }, count) {
      // The example's own connections end a statement after two seconds.
      const client = new Client({ connectionString: databaseUrl })
      await client.connect()
      const keys = `select lpad(to_hex((n * ${FACTOR}) % 4294967296), 8, '0') as key from generate_series(1::bigint, ${count}) as n`
      await client.query(rowsFrom(keys))
      await client.query('vacuum analyze accounts')
      const { rows } = await client.query("select pg_total_relation_size('accounts') as bytes")
      await client.end()
      return Number(rows[0].bytes)
    },
  },
  SQLite: {
    async fill({ dataDir }, count) {
      const file = join(dataDir, 'clearing-house.sqlite')
      const client = new Sqlite(file)
      const numbers = `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count}) select n from numbers`
      client.exec(rowsFrom(`select printf('%08x', (n * ${FACTOR}) % 4294967296) as key from (${numbers})`))
      client.exec('analyze')
      client.pragma('wal_checkpoint(truncate)')
      client.close()
      return statSync(file).size
    },
  },
}

/** Compares look-ups in the example's store with a million and with a thousand accounts. */
export const million = {
  title: 'A look-up among a million accounts, and among a thousand',
  async run({ scale, rounds }) {
    const many = Math.max(2 * FEW, Math.ceil(MANY * scale))
    const postgres = await startPostgres()
    const verdicts = []
    const figures = {}
    for (const name of Object.keys(KINDS)) {
      const place = async () => ({
        databaseUrl: name === 'PostgreSQL' ? await postgres.createDatabase() : undefined,
        dataDir: await tempDir(),
      })
      const stores = [await filled(name, await place(), FEW), await filled(name, await place(), many)]
      const found = await compare(name, stores, rounds)
      verdicts.push(...found.verdicts)
      figures[name] = found.figures
    }
    return { verdicts, figures }
  },
}

/** Opens a database with the example's tables, and fills it. */
async function filled(kind, place, count) {
  const db = await openDatabase(place, () => {})
  atEnd(() => db.destroy())
  const bytes = await KINDS[kind].fill(place, count)
  return { name: count.toLocaleString('en'), count, bytes, store: createAccountStore(db), right: true }
}

const LOOK_UPS = {
  'by e-mail address': async ({ store }, key) => (await store.findByEmail(emailOf(key)))?.id === idOf(key),
  'by id': async ({ store }, key) => (await store.findById(idOf(key)))?.id === idOf(key),
  'of an unknown address': async ({ store }, key) =>
    (await store.findByEmail(`person.${key}@nowhere.example`)) === undefined,
}

async function compare(kind, stores, rounds) {
  const [few, many] = stores
  const verdicts = []
  const ratios = {}
  for (const [what, lookUp] of Object.entries(LOOK_UPS)) {
    // The earliest look-ups read from the disk, so they do not count.
    for (const one of stores) await microsecondsEach(one, lookUp, 4 * SLICE)
    const values = await inRounds(rounds, stores, (one) => microsecondsEach(one, lookUp, SLICE))
    const ratio = pairedRatio(values[many.name], values[few.name])
    ratios[what] = ratio
    const [before, after] = [few, many].map(({ name }) => withSpread(summary(values[name]), ' µs'))
    verdicts.push(
      figure(`${kind}, ${what}: ${many.name} accounts to ${few.name}`, `× ${withSpread(ratio)}`, ratio.median <= NOISE),
      figure('  each', `${before} → ${after}`),
    )
  }
  const right = stores.every((one) => one.right)
  const bytes = Math.round(many.bytes / many.count)
  verdicts.push(
    check(`${kind}: every look-up gave the right account, or none`, right ? 'yes' : 'no', right),
    figure(`${kind}: bytes per account, indexes included`, bytes),
  )
  return { verdicts, figures: { ratios, bytes } }
}

/** Runs several look-ups at a time, because the scheduler decides the speed of single ones. */
async function microsecondsEach(one, lookUp, count) {
  const next = times(count, () => keyOf(1 + Math.floor(Math.random() * one.count)))
  const worker = async () => {
    for (let key = next(); key; key = next()) if (!(await lookUp(one, key))) one.right = false
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return ((performance.now() - started) * 1000) / count
}
