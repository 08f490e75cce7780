import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../support/plain-js/http-client.mjs'
import { ask, createTally, inTurn } from '../clients/crowd.mjs'
import { loadThrough, untilTrue } from '../clients/phases.mjs'
import { forged, guess, login, refused, signOut, statements } from '../clients/requests.mjs'
import { tokenFor, tokensFor } from '../clients/tokens.mjs'
import { startFleet } from '../servers/fleet-of.mjs'
import { check, figure } from '../verdicts.mjs'

const SIZE = 2
const UP_MS = 2000
const DOWN_MS = 8000
/** Requests from before the outage have responses by then, because the example gives PostgreSQL less than five seconds. */
const SETTLE_MS = 5500

/** Allowed statuses without an outage. */
const UP = {
  statements: [200],
  login: [200],
  'wrong password': [403, 429],
  'signed out': [401],
  forged: [401],
  'no token': [401],
  'no scope': [403],
}
/** Allowed statuses during an outage. An invalid token still gets 401 where no store is needed. */
const DOWN = {
  PostgreSQL: { statements: [503], login: [503], 'wrong password': [429, 503], 'signed out': [401, 503] },
  // Each process then has its own count of failed logins.
  Redis: { statements: [503], 'signed out': [503] },
}
const anyTime = (kind) => [...UP[kind], 503]

const OUTAGES = [
  ['PostgreSQL', 'killed', ({ postgres }) => postgres.kill(), ({ postgres }) => postgres.start()],
  ['PostgreSQL', 'paused', ({ postgres }) => postgres.pause(), ({ postgres }) => postgres.resume()],
  ['Redis', 'killed', ({ redis }) => redis.kill(), ({ redis }) => redis.start()],
  ['Redis', 'paused', ({ redis }) => redis.process().kill('SIGSTOP'), ({ redis }) => redis.process().kill('SIGCONT')],
]

export async function storeOutages() {
  const fleet = await startFleet({ size: SIZE, people: 12 })
  const parts = await requestsOf(fleet)
  const verdicts = []
  let where = 'up'
  let lost
  const allowed = (kind, phase) => {
    if (phase === 'up') return UP[kind]
    return (phase === 'down' && DOWN[lost][kind]) || (phase === 'down' ? UP[kind] : anyTime(kind))
  }
  const load = loadThrough({ size: 24, next: parts.next, allowed, pauseMs: 20 })
  for (const [store, how, leave, comeBack] of OUTAGES) {
    where = `${store} ${how}`
    lost = store
    const before = await load.during('up', UP_MS)
    await leave(fleet)
    await sleep(SETTLE_MS)
    const down = await load.during('down', DOWN_MS)
    await comeBack(fleet)
    const recovery = await untilTrue(`${where}: right responses again`, () => areRight(fleet, parts.each))
    const after = await load.during('up', UP_MS)
    verdicts.push(
      found(`${where}: before`, before),
      found('  during the outage', down, shown(down)),
      found('  afterwards', after),
      figure('  right responses from all processes again after', `${recovery.toFixed(1)} s`),
    )
  }
  const all = await load.stop()
  parts.close()
  verdicts.push(found('whole run, changes included', all))
  return verdicts
}

const found = (what, tally, more = '') =>
  check(
    `${what}: wrong responses`,
    `${tally.wrong()} of ${tally.total()}${more}${tally.wrong() ? ` (${tally.examples().join('; ')})` : ''}`,
    tally.wrong() === 0 && tally.total() > 0,
  )

const shown = (tally) =>
  ` (statements 503: ${tally.of('statements', 503)}, login 200: ${tally.of('login', 200)}, 503: ${tally.of('login', 503)})`

async function requestsOf({ ports: { clearingHouse: port }, people }) {
  const clients = people.map((_, number) =>
    createClient(port, { connections: 8, localAddress: `127.0.7.${number + 1}` }),
  )
  const [{ send }] = clients
  const tokens = await tokensFor(port, people)
  const ended = await tokenFor(port, people[0])
  await send(signOut(ended).request)
  const readers = people.filter(({ scopes }) => scopes.length > 0)
  const scopeless = people.find(({ scopes }) => scopes.length === 0)
  const nextReader = inTurn(readers)
  const good = () => {
    const person = nextReader()
    return statements(person, 'north', tokens.get(person))
  }
  const bad = [
    () => refused('no token', 401),
    () => refused('forged', 401, forged(tokens.get(nextReader()))),
    () => refused('signed out', 401, ended),
    () => refused('no scope', 403, tokens.get(scopeless)),
    () => guess('nobody@example.com'),
  ]
  const signIn = () => login(nextReader())
  const kinds = inTurn([...bad, signIn, ...Array(8).fill(good)])
  const nextClient = inTurn(clients)
  return {
    next: () => ({ ...kinds()(), send: nextClient().send }),
    each: () => [good(), signIn(), ...bad.map((make) => make())],
    close: () => {
      for (const { close } of clients) close()
    },
  }
}

/** Returns true when every process responds correctly to every kind of request. */
async function areRight({ apis }, each) {
  const tally = createTally()
  const judge = ({ kind }, { status }) => (UP[kind].includes(status) ? undefined : 'not yet')
  await Promise.all(
    apis.map(async ({ port }) => {
      const { send, close } = createClient(port, { localAddress: '127.0.7.100' })
      await Promise.all(each().map((asked) => ask(asked, send, tally, judge)))
      close()
    }),
  )
  return tally.wrong() === 0
}
