import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../support/plain-js/http-client.mjs'
import { inTurn } from '../clients/crowd.mjs'
import { loadThrough, untilTrue } from '../clients/phases.mjs'
import { kidOf, login, report, statements, tokenOf } from '../clients/requests.mjs'
import { tokensFor } from '../clients/tokens.mjs'
import { startApi } from '../servers/example.mjs'
import { startFleet } from '../servers/fleet-of.mjs'
import { keys } from '../servers/keys.mjs'
import { check, figure } from '../verdicts.mjs'

const SIZE = 4
const PEOPLE = 12
const SETTINGS = { maxAge: '4s', cooldown: '1s', keepFor: '10s', timeout: '1s' }
/** `maxAge` and the time of a fetch. After this time the reporting API has the issuer's current keys. */
const HEARD_MS = 5000
const CALM_MS = 2000

const STRICT = {
  statements: [200],
  report: [200],
  login: [200],
  'statements, old key': [200],
  'report, old key': [200],
}
/** Allowed while some processes still have the old key. */
const REMOVING = { ...STRICT, 'statements, old key': [200, 401], 'report, old key': [200, 401] }
const PHASES = {
  rotating: STRICT,
  removing: REMOVING,
  changing: REMOVING,
  removed: { ...STRICT, 'statements, old key': [401], 'report, old key': [401] },
}

/** Rotates the signing key while clients send requests to both APIs. */
export const rotation = {
  title: 'Rotating the signing key under load',
  async run() {
    const { apis, env, people, ports } = await startFleet({ size: SIZE, people: PEOPLE, reporting: SETTINGS })
    const clients = await clientsOf(people, ports)
    const old = clients.kids()

    const allowed = (kind, phase) => PHASES[phase][kind]
    const load = loadThrough({ size: 16, next: clients.next, allowed, pauseMs: 5 })
    const rotating = load.enter('rotating')
    const restarts = []
    await sleep(CALM_MS)

    const added = /^Added ([\w-]{43})\./m.exec(await keys(env, 'add'))?.[1]
    restarts.push(await restart(apis, env))
    await sleep(HEARD_MS)
    const beforePromotion = clients.kids()

    await keys(env, 'promote', added)
    restarts.push(await restart(apis, env))
    clients.forgetKids()
    await sleep(CALM_MS)
    const afterPromotion = clients.kids()
    // This replaces one token lifetime: all accounts have signed in again.
    await untilTrue('all accounts have a token of the new key', () => clients.areRenewed(added))

    const removing = load.enter('removing')
    await keys(env, 'remove', [...old][0])
    restarts.push(await restart(apis, env))
    await sleep(HEARD_MS)
    const removed = await load.during('removed', 2 * CALM_MS)
    const all = await load.stop()
    clients.close()
    const seconds = restarts.map((time) => time.toFixed(0)).join(', ')
    const verdicts = [
      found('new key added and promoted, all processes replaced twice: tokens refused', rotating),
      check(
        'number of keys that signed: at first, after adding, after promoting',
        [old, beforePromotion, afterPromotion].map(({ size }) => size).join(', '),
        same(old, beforePromotion) && same(afterPromotion, new Set([added])),
      ),
      found('old key removed, all processes replaced a third time: tokens of the new key refused', removing),
      check(
        '  tokens of the old key afterwards: accepted, of',
        `${removed.of('statements, old key', 200) + removed.of('report, old key', 200)}, ${removed.of('statements, old key') + removed.of('report, old key')}`,
        removed.of('statements, old key', 401) > 0 && removed.of('report, old key', 401) > 0 && removed.wrong() === 0,
      ),
      found('whole run: wrong responses and broken connections', all),
      figure(`  replacing ${SIZE} processes, three times`, `${seconds} s`),
    ]
    return { verdicts }
  },
}

const same = (one, other) => one.size === other.size && [...one].every((kid) => other.has(kid))

const found = (what, tally) =>
  check(
    what,
    `${tally.wrong()} of ${tally.total()}${tally.wrong() ? ` (${tally.examples().join('; ')})` : ''}`,
    tally.wrong() === 0 && tally.of('statements', 200) > 0 && tally.of('report', 200) > 0,
  )

/** Replaces the processes one by one. Returns the duration in seconds. */
async function restart(apis, env) {
  const started = performance.now()
  for (const [index, api] of apis.entries()) {
    await api.stop()
    apis[index] = await startApi('clearing-house', env, api.port)
  }
  return (performance.now() - started) / 1000
}

/** Creates clients that sign in repeatedly, and use their latest and their first token. */
async function clientsOf(people, ports) {
  const readers = people.filter(({ scopes }) => scopes.length > 0)
  const house = createClient(ports.clearingHouse, { connections: 16, localAddress: '127.0.9.1' })
  const reports = createClient(ports.reporting, { connections: 8, localAddress: '127.0.9.2' })
  const first = await tokensFor(ports.clearingHouse, readers)
  const latest = new Map()
  const kids = new Set()
  const note = (person, token) => {
    latest.set(person, token)
    kids.add(kidOf(token))
  }
  for (const [person, token] of first) note(person, token)
  const person = inTurn(readers)
  const signIn = () => {
    const who = person()
    const asked = login(who)
    const check = (got) => {
      const fault = asked.check(got)
      if (!fault) note(who, tokenOf(got))
      return fault
    }
    return { ...asked, check, send: house.send }
  }
  const using = (make, send, tokens, kind) => () => {
    const who = person()
    const asked = make(who, tokens.get(who))
    return { ...asked, kind: kind ?? asked.kind, send }
  }
  const north = (who, token) => statements(who, 'north', token)
  const kinds = inTurn([
    using(north, house.send, latest),
    using(report, reports.send, latest),
    using(north, house.send, first, 'statements, old key'),
    using(report, reports.send, first, 'report, old key'),
    using(north, house.send, latest),
    signIn,
    using(report, reports.send, latest),
  ])
  return {
    next: () => kinds()(),
    kids: () => new Set(kids),
    forgetKids: () => kids.clear(),
    areRenewed: (kid) => [...latest.values()].every((token) => kidOf(token) === kid),
    close() {
      house.close()
      reports.close()
    },
  }
}
