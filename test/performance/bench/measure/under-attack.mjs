import { bearer, login, requestText, send } from '../../../support/plain-js/http-client.mjs'
import { startClient } from '../../client/start-client.mjs'
import { memoryOf } from '../../load/proc.mjs'
import { seconds } from '../../processes.mjs'
import { median, quantile } from '../../stats.mjs'
import { PASSWORD } from '../attacks.mjs'
import { startAttacked } from '../servers/attacked.mjs'
import { separateCores } from './separate-cores.mjs'

const OWNERS = 20
/** Milliseconds between two requests of the only client of the guarded route. */
const PAUSE = 5
/** The attacker's own address. nginx sees it. */
const ATTACKER = '127.0.0.9'

const owner = (i) => login(`known${900 + i}@example.com`, PASSWORD, `198.51.100.${100 + i}`)

/** Milliseconds of each phase. In a much shorter phase, one pause of the machine decides the p99. */
const PHASE = 1500

/**
 * Attacks an app, and measures the people who use the app.
 * @param node the path of the app's Node
 */
export async function underAttack(attack, kind, settings, node) {
  const app = await startAttacked(kind, settings, node)
  const [victim, attacker] = await Promise.all([startClient(), startClient()])
  try {
    const { authenticationToken: token } = JSON.parse((await send(app.port, owner(0))).body)
    const route = requestText(bearer(token, '/guarded'))
    const guarded = await (await victim.connect(app.port, 1)).load([route], { pause: PAUSE })
    const logins = Array.from({ length: OWNERS }, (_, i) => requestText(owner(i)))
    const owners = await (await victim.connect(app.loginPort, OWNERS)).load(logins)
    await owners.run(1)
    await guarded.run(PHASE)

    const { connections, requests, ofToken = false, ...how } = attack
    const port = ofToken ? app.port : app.loginPort
    const load =
      connections > 0 &&
      (await (await attacker.connect(port, connections, { localAddress: ATTACKER })).load(requests(token), how))
    if (load) await load.start()
    // The first attempts of an attacker are not refused by a limit.
    await seconds(1)
    const shared = timesOf(await guarded.run(PHASE))
    const { statuses, times } = await owners.run(1)
    separateCores(app.pid, [...app.others, attacker.child.pid], [victim.child.pid])
    const apart = timesOf(await guarded.run(PHASE))
    return {
      shared,
      apart,
      owners: { statuses, most: Math.max(...times) },
      memory: memoryOf(app.pid).most,
      perSecond: load ? perSecond(await load.stop()) : {},
    }
  } finally {
    victim.stop()
    attacker.stop()
    await app.stop()
  }
}

function timesOf({ statuses, total, closed, times }) {
  if (statuses[200] !== total || closed > 0) {
    throw new Error(`the guarded route closed ${closed} connections, and answered ${JSON.stringify(statuses)}`)
  }
  return { p50: median(times), p99: quantile(times, 0.99) }
}

const perSecond = ({ statuses, seconds: length }) =>
  Object.fromEntries(Object.entries(statuses).map(([status, count]) => [status, Math.round(count / length)]))
