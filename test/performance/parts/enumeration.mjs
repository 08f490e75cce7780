import { setTimeout as wait } from 'node:timers/promises'
import { createClient, JSON_TYPE } from '../../support/plain-js/http-client.mjs'
import { startServer } from '../harness/processes.mjs'
import { atLeast, atMost, spread } from '../harness/report.mjs'
import { medianWithInterval } from '../harness/statistics.mjs'

/** The routes that mail to an address, whether it has an account or not. */
const ROUTES = {
  'sign-up': '/account',
  'forgotten password': '/account/password/forgotten',
  'mailed sign-in': '/token/mail',
}
/** The groups of a round. More than these would fill the places of work after the response. */
const GROUPS = 150
/** The requests of a round whose times nobody looks at. */
const WARM_UP = 10
/** Longer than the time in which the work after a response begins, in milliseconds. */
const PAUSE_MS = 1200
const BASE = 'unknown'

export const title =
  'Enumeration: the time of a request for a mail, and of the next request of its client, for known, disabled and unknown addresses, in groups of three'

const shuffled = (list) =>
  list
    .map((one) => ({ one, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ one }) => one)

async function timeOf(send, request, status) {
  const started = performance.now()
  const answer = await send(request)
  const took = (performance.now() - started) * 1000
  if (answer.status !== status) throw new Error(`${request.path}: ${answer.status} instead of ${status}`)
  return took
}

let clients = 0
/** Returns a request of another network each time, because each has its own limit. */
function requestOf(path, email) {
  const address = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients++ & 255}`
  return {
    method: 'POST',
    path,
    headers: { ...JSON_TYPE, 'X-Forwarded-For': address },
    body: JSON.stringify({ email }),
  }
}

/** Measures groups of one address of each kind, in a random order. Returns their times: `[request, next request]` by the kind. */
async function measure(send, path, addresses, first) {
  const groups = []
  for (let i = first; i < first + GROUPS + WARM_UP; i++) {
    const group = {}
    for (const kind of shuffled(Object.keys(addresses))) {
      const request = await timeOf(send, requestOf(path, addresses[kind][i]), 202)
      group[kind] = [request, await timeOf(send, { method: 'GET', path: '/next' }, 200)]
    }
    groups.push(group)
  }
  await wait(PAUSE_MS)
  return groups.slice(WARM_UP)
}

export async function run({ node, rounds }) {
  const names = Object.keys(ROUTES)
  const perRound = GROUPS + WARM_UP
  const { port, addresses } = await startServer('account-server.mjs', { args: [rounds * perRound], node })
  const { send, close } = createClient(port, { connections: 1 })
  const found = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const name of shuffled(names))
      found[name].push(...(await measure(send, ROUTES[name], addresses, round * perRound)))
  close()

  const rows = names.flatMap((name) =>
    ['request', 'next request'].flatMap((what, at) =>
      Object.keys(addresses).map((kind) => ({
        what: `${name}, ${what}, ${kind}`,
        kind,
        time: medianWithInterval(found[name].map((group) => group[kind][at])),
        ratio: medianWithInterval(found[name].map((group) => group[kind][at] / group[BASE][at])),
      })),
    ),
  )
  return {
    tables: [
      [
        ['time that the client sees', 'µs', `times that of an ${BASE} address`],
        rows.map(({ what, time, ratio }) => [what, spread(time), spread(ratio)]),
      ],
    ],
    verdicts: rows
      .filter(({ kind }) => kind !== BASE)
      .flatMap(({ what, ratio }) => [atLeast(what, ratio, 0.98), atMost(what, ratio, 1.02)]),
  }
}
