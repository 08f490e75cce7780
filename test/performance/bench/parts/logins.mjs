import { createClient, login, requestText } from '../../../support/plain-js/http-client.mjs'
import { startClient } from '../../client/start-client.mjs'
import { start } from '../../processes.mjs'
import { inRounds } from '../measure/rounds.mjs'
import { OURS_CHECK, PASSWORD, WRAPPED } from '../names.mjs'
import { atLeast, rowsOf, times, withSpread } from '../report/report.mjs'

const WARM_UP = 600
const SLICE = 300
const CONNECTIONS = 16
/** Slices of logins in each round. A login and a bare check differ by little, so they need more slices. */
const LOGIN_ROUNDS = 3
const LOGIN_SLICE = 300
/** Logins at a time. With fewer than the hashing threads, a hash also costs the time until its thread is awake. */
const LOGINS_TOGETHER = 8

/** Compares password checks with those of other packages, and measures the cost of a login without its hash. */
export const logins = {
  title: 'Logins: password checks, and the token call with and without them',
  async run({ rounds, node }) {
    const { first } = await start(new URL('../password-checks.mjs', import.meta.url), { args: [`${rounds}`], node })
    const { argon2, bcrypt12 } = first
    const server = await start(new URL('../servers/token-server.mjs', import.meta.url), { node })
    const client = await startClient()
    try {
      const free = await measureFree(rounds, server, client)
      const whole = await measureWhole(rounds, server, client)
      return {
        tables: [
          checksTable('argon2id, default costs', argon2),
          checksTable('bcrypt, cost 12', bcrypt12),
          {
            heads: ['POST', 'per second', 'to bare'],
            rows: free.map((row) => [row.name, withSpread(row), times(row.ratio)]),
          },
          {
            heads: [`processor time, ${LOGINS_TOGETHER} logins at a time`, 'µs'],
            rows: whole.map((row) => [row.name, withSpread(row)]),
          },
        ],
        demands: [
          fasterThanPeers('argon2id', argon2),
          figure(`argon2id checks per second and core, ${OURS_CHECK} to ${WRAPPED}`, ratioTo(argon2, WRAPPED)),
          fasterThanPeers('bcrypt', bcrypt12),
          figure('work of a login that is not hashing, µs of processor time', whole.at(-3)),
          figure('work of a login that is not hashing, percent', whole.at(-1)),
          figure('the token call without the hash, HS256, to a bare route', free[1].ratio),
        ],
        rows: { argon2: checkRows(argon2), bcrypt: checkRows(bcrypt12), free, whole },
      }
    } finally {
      client.stop()
      server.child.disconnect()
    }
  },
}

const checkRows = ({ perCore, perSecond }) => {
  const clock = rowsOf(perSecond)
  return rowsOf(perCore).map((row, i) => ({ ...row, perSecond: clock[i] }))
}

const checksTable = (title, measured) => ({
  heads: [title, 'per second and core', `to ${OURS_CHECK}`, 'one at a time, per second'],
  rows: checkRows(measured).map((row) => [row.name, withSpread(row), times(row.ratio), withSpread(row.perSecond)]),
})

const ratioTo = ({ perCore }, name) => rowsOf(perCore, [OURS_CHECK], name)[0].ratio

const figure = (name, value) => ({ demand: `(${name})`, measured: withSpread(value) })

function fasterThanPeers(kind, measured) {
  const others = rowsOf(measured.perCore).filter(({ name }) => name !== OURS_CHECK && name !== WRAPPED)
  const { name } = others.reduce((most, row) => (row.median > most.median ? row : most))
  return atLeast(
    `${kind} checks per second and core, ${OURS_CHECK} to ${name}, the fastest other`,
    ratioTo(measured, name),
    1,
  )
}

/** Simultaneous logins have different accounts and addresses, so they reach no failed-login limit. */
const loginTexts = (path, emails) =>
  emails.map((email, i) => requestText(login(email, PASSWORD, `198.51.100.${10 + i}`, path)))

async function runChecked(load, milliseconds) {
  const result = await load.run(milliseconds)
  if (result.statuses[200] !== result.total) throw new Error('a good login was refused')
  return result
}

/** Measures the token endpoint without the password hash, which would hide everything else. */
async function measureFree(rounds, { first }, client) {
  const { port, bare, free, emails } = first
  const connections = await client.connect(port, CONNECTIONS)
  const variants = []
  for (const path of [bare, ...free]) {
    const name = path === bare ? 'a bare route with express.json()' : `the token call, ${path.split('/').at(-1)}`
    if (path !== bare) await checkLogin(port, name, path, emails[0])
    variants.push({ name, load: await connections.load(loginTexts(path, emails)) })
  }
  for (const { load } of variants) await runChecked(load, WARM_UP)
  const values = await inRounds(rounds, variants, async ({ load }) => (await runChecked(load, SLICE)).perSecond)
  await connections.close()
  return rowsOf(values)
}

/**
 * Measures the processor time of the whole process for a login with the default hash, for a bare route that checks a password, and for
 * only the check. The difference is all the work that is not hashing.
 */
async function measureWhole(rounds, server, client) {
  const { port, real, bareReal, emails } = server.first
  await checkLogin(port, 'the token call', real, emails[0])
  const connections = await client.connect(port, LOGINS_TOGETHER)
  const load = await connections.load(loginTexts(real, emails))
  const bareLoad = await connections.load(loginTexts(bareReal, emails))
  await runChecked(bareLoad, WARM_UP)
  const { total: warm } = await runChecked(load, WARM_UP)
  const checks = Math.ceil((warm * LOGIN_SLICE) / WARM_UP)

  const over = (requests) => async () => (await runChecked(requests, LOGIN_SLICE)).total
  const variants = [
    { name: 'a login', work: over(load) },
    { name: 'a bare route that checks a password', work: over(bareLoad) },
    { name: 'the password check', work: () => server.ask({ checks, together: LOGINS_TOGETHER }).then(() => checks) },
  ]
  const values = await inRounds(rounds * LOGIN_ROUNDS, variants, async ({ work }) => {
    const before = await server.ask({})
    const count = await work()
    return ((await server.ask({})) - before) / count
  })
  await connections.close()
  const [whole, bare, check] = Object.values(values)
  return rowsOf({
    ...values,
    'not hashing: a login': whole.map((value, i) => value - check[i]),
    'not hashing: the bare route': bare.map((value, i) => value - check[i]),
    'not hashing, percent of a login': whole.map((value, i) => (100 * (value - check[i])) / value),
  })
}

async function checkLogin(port, name, path, email) {
  const { send, close } = createClient(port, { connections: 1 })
  const good = await send(login(email, PASSWORD, '192.0.2.1', path))
  if (good.status !== 200 || !JSON.parse(good.body).authenticationToken) {
    throw new Error(`${name}: refuses a good login`)
  }
  const bad = await send(login('nobody@example.com', PASSWORD, '192.0.2.1', path))
  if (bad.status !== 403) throw new Error(`${name}: accepts an unknown account`)
  close()
}
