import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../support/plain-js/http-client.mjs'
import { headerOf } from '../../support/plain-js/token-forger.mjs'
import { must } from '../harness/report.mjs'
import { keys, startSeveral } from '../several/apps.mjs'
import { inTurn, report, signIn, startTraffic, statements, UP, untilTrue } from '../several/traffic.mjs'

const SETTINGS = { maxAge: '4s', cooldown: '1s', keepFor: '10s', timeout: '1s' }
/** `maxAge` and the time of a fetch. After this time the reporting API has the issuer's current keys. */
const HEARD_MS = 5000
const CALM_MS = 2000

/** The allowed statuses of tokens that the old key signed. While the key is removed, some processes still have it. */
const OLD = { rotating: [200], removing: [200, 401], changing: [200, 401], removed: [401] }
const allowed = (kind, phase) => (kind.endsWith(', old key') ? OLD[phase] : UP[kind])

export const title =
  'A key rotation under load, with all processes replaced three times: no token of a current key refused'

const kidOf = (token) => headerOf(token).kid

export async function run({ node }) {
  const several = await startSeveral({ node, size: 4, people: 12, reporting: SETTINGS })
  const { ports, restart } = several
  const people = several.people.slice(0, -1)
  const latest = new Map(people.map((person) => [person, person.token]))
  const kids = () => new Set([...latest.values()].map(kidOf))
  const [old] = kids()
  const traffic = startTraffic({ clients: 16, next: requestsOf(people, latest, ports), allowed, pauseMs: 5 })

  const rotating = traffic.enter('rotating')
  await sleep(CALM_MS)
  const added = /^Added ([\w-]{43})\./m.exec(await keys(several, 'add'))?.[1]
  await restart()
  await sleep(HEARD_MS)
  const beforePromotion = kids()
  await keys(several, 'promote', added)
  await restart()
  // This replaces one token lifetime: all accounts sign in again.
  await untilTrue('all accounts have a token of the new key', () => kids().size === 1 && kids().has(added))
  await sleep(CALM_MS)

  const removing = traffic.enter('removing')
  await keys(several, 'remove', old)
  await restart()
  await sleep(HEARD_MS)
  const removed = await traffic.during('removed', 2 * CALM_MS)
  const all = await traffic.stop()
  const onlyOld = beforePromotion.size === 1 && beforePromotion.has(old)
  const both = ['statements 200', 'report 200']
  return {
    tables: [],
    verdicts: [
      rotating.verdict('new key added and promoted', ...both, 'statements, old key 200', 'report, old key 200'),
      must('before the promotion, only the old key signs', onlyOld ? 'yes' : 'no', onlyOld),
      removing.verdict('old key removed', ...both),
      removed.verdict('afterwards', ...both, 'statements, old key 401', 'report, old key 401'),
      all.verdict('whole run', 'login 200'),
    ],
  }
}

/** Creates requests of clients that sign in repeatedly, and use their latest and their first token. */
function requestsOf(people, latest, ports) {
  const house = createClient(ports.clearingHouse, { connections: 16, localAddress: '127.0.9.1' })
  const reports = createClient(ports.reporting, { connections: 8, localAddress: '127.0.9.2' })
  const kinds = inTurn([
    (who) => ({ ...statements(who, latest.get(who)), send: house.send }),
    (who) => ({ ...report(who, latest.get(who)), send: reports.send }),
    (who) => ({ ...statements(who, who.token, 'statements, old key'), send: house.send }),
    (who) => ({ ...report(who, who.token, 'report, old key'), send: reports.send }),
    (who) => ({ ...signIn(who, (token) => latest.set(who, token)), send: house.send }),
  ])
  const person = inTurn(people)
  return () => kinds()(person())
}
