import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../support/plain-js/http-client.mjs'
import { inTurn } from '../clients/crowd.mjs'
import { loadThrough, untilTrue } from '../clients/phases.mjs'
import { forged, REPORT_PATH, refused, report } from '../clients/requests.mjs'
import { tokensFor } from '../clients/tokens.mjs'
import { startApi } from '../servers/example.mjs'
import { startFleet } from '../servers/fleet-of.mjs'
import { check, figure } from '../verdicts.mjs'

/** The defaults are an hour, ten minutes and half a minute. */
const SETTINGS = { keepFor: '8s', maxAge: '2s', cooldown: '1s', timeout: '1s' }
const UP_MS = 3000
const KEPT_MS = 5000
const GONE_MS = 3000

const UP = { report: [200], forged: [401], 'no token': [401], 'no scope': [403] }
/** The API cannot verify tokens without a key. */
const GONE = { report: [503], forged: [503], 'no token': [401], 'no scope': [503] }

/** Stops the issuer for longer than the reporting API keeps cached keys. */
export async function issuerOutage() {
  const { apis, env, ports, people } = await startFleet({ size: 1, people: 8, reporting: SETTINGS })
  const [issuer] = apis
  const { next, good, close } = await requestsOf(people, ports)

  const allowed = (kind, phase) => {
    if (phase === 'changing') return [...UP[kind], 503]
    return phase === 'gone' ? GONE[kind] : UP[kind]
  }
  const load = loadThrough({ size: 8, next, allowed, pauseMs: 10 })
  const before = await load.during('up', UP_MS)
  await issuer.stop('SIGKILL')
  const stopped = performance.now()
  const kept = await load.during('kept', KEPT_MS)
  const { send } = createClient(ports.reporting, { localAddress: '127.0.8.9' })
  const status = async () => (await send(good().request)).status
  await untilTrue('the keys are too old', async () => (await status()) === 503)
  const tooOld = (performance.now() - stopped) / 1000
  const gone = await load.during('gone', GONE_MS)
  await startApi('clearing-house', env, issuer.port)
  const recovery = await untilTrue('reports again', async () => (await status()) === 200)
  await sleep(500)
  const after = await load.during('up', UP_MS)
  const all = await load.stop()
  close()
  return [
    found('reporting API: wrong responses before', before),
    found(`  while the issuer is down and keys are cached (${SETTINGS.keepFor} here)`, kept, 'report', 200),
    figure('  refuses since the issuer stopped, after', `${tooOld.toFixed(1)} s`),
    found('  while the cached keys are too old', gone, 'report', 503),
    figure('  reports again, after the issuer is ready', `${recovery.toFixed(1)} s`),
    found('  afterwards', after),
    found('  whole run, changes included', all),
  ]
}

const found = (what, tally, kind = 'report', status = 200) =>
  check(
    what,
    `${tally.wrong()} of ${tally.total()} (${kind} ${status}: ${tally.of(kind, status)})${tally.wrong() ? ` ${tally.examples().join('; ')}` : ''}`,
    tally.wrong() === 0 && tally.of(kind, status) > 0,
  )

async function requestsOf(people, ports) {
  const reporting = createClient(ports.reporting, { connections: 16, localAddress: '127.0.8.2' })
  const tokens = await tokensFor(ports.clearingHouse, people)
  const readers = people.filter(({ scopes }) => scopes.length > 0)
  const scopeless = people.find(({ scopes }) => scopes.length === 0)
  const person = inTurn(readers)
  const good = () => {
    const who = person()
    return report(who, tokens.get(who))
  }
  const kinds = inTurn([
    ...Array(8).fill(good),
    () => refused('forged', 401, forged(tokens.get(person())), REPORT_PATH),
    () => refused('no token', 401, undefined, REPORT_PATH),
    () => refused('no scope', 403, tokens.get(scopeless), REPORT_PATH),
  ])
  return { next: () => ({ ...kinds()(), send: reporting.send }), good, close: reporting.close }
}
