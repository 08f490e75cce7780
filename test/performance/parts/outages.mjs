import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../support/plain-js/http-client.mjs'
import { stopAll } from '../harness/processes.mjs'
import { startApi, startSeveral } from '../several/apps.mjs'
import {
  endedToken,
  guess,
  inTurn,
  REPORT_PATH,
  refusals,
  report,
  signIn,
  startTraffic,
  statements,
  UP,
  untilTrue,
} from '../several/traffic.mjs'

const PHASE_MS = 3000
/** Long enough for requests that wait five seconds for PostgreSQL. */
const DOWN_MS = 8000
/** Requests from before an outage have responses by then, because the example gives PostgreSQL less than five seconds. */
const SETTLE_MS = 5500

const OUTAGES = [
  ['PostgreSQL', 'killed', ({ postgres }) => postgres.kill(), ({ postgres }) => postgres.start()],
  ['PostgreSQL', 'paused', ({ postgres }) => postgres.pause(), ({ postgres }) => postgres.resume()],
  ['Redis', 'killed', ({ redis }) => redis.kill(), ({ redis }) => redis.start()],
  ['Redis', 'paused', ({ redis }) => redis.process().kill('SIGSTOP'), ({ redis }) => redis.process().kill('SIGCONT')],
]
/** Other statuses during an outage. An invalid token still gets 401 where no store is needed. */
const DOWN = {
  PostgreSQL: { statements: [503], login: [503], 'wrong password': [429, 503], 'signed out': [401, 503] },
  Redis: { statements: [503], 'signed out': [503] },
  issuer: { report: [503], forged: [503], 'no scope': [503] },
}
/** Returns the statuses that are allowed without an outage, during one, and while it starts or ends. */
const allowedBy = (down) => (kind, phase) => {
  if (phase === 'changing') return [...UP[kind], 503]
  return (phase === 'down' && down()[kind]) || UP[kind]
}

/** The defaults are an hour, ten minutes and half a minute. */
const SETTINGS = { keepFor: '8s', maxAge: '2s', cooldown: '1s', timeout: '1s' }

export const title =
  'Outages of PostgreSQL, Redis and the issuer under load: 503, nobody admitted, recovery without a restart'

export async function run({ node }) {
  const ofStores = await storeOutages(node)
  await stopAll()
  return { tables: [], verdicts: [...ofStores, ...(await issuerOutage(node))] }
}

async function storeOutages(node) {
  const apps = await startSeveral({ node, size: 2, people: 12 })
  const { people, ports } = apps
  const port = ports.clearingHouse
  const clients = people.map((_, i) => createClient(port, { connections: 8, localAddress: `127.0.7.${i + 1}` }).send)
  const ended = await endedToken(clients[0], people[0])
  const person = inTurn(people.slice(0, -1))
  const good = () => statements(person())
  const others = [...refusals(people, { ended }), () => guess({ email: 'nobody@example.com' }), () => signIn(person())]
  const [kinds, client] = [inTurn([...others, ...Array(8).fill(good)]), inTurn(clients)]
  let lost
  const next = () => ({ ...kinds()(), send: client() })
  const traffic = startTraffic({ clients: 24, next, allowed: allowedBy(() => DOWN[lost]), pauseMs: 20 })

  /** Returns whether every process responds correctly to every kind of request. */
  async function areRight() {
    const sends = apps.apis.map((api) => createClient(api.port, { localAddress: '127.0.7.100', keepAlive: false }).send)
    const asked = sends.flatMap((send) =>
      [good, ...others].map(async (make) => {
        const { kind, request } = make()
        return UP[kind].includes((await send(request)).status)
      }),
    )
    return (await Promise.all(asked)).every(Boolean)
  }
  const verdicts = []
  for (const [store, how, leave, comeBack] of OUTAGES) {
    lost = store
    const before = await traffic.during('up', PHASE_MS)
    await leave(apps)
    await sleep(SETTLE_MS)
    const down = await traffic.during('down', DOWN_MS)
    await comeBack(apps)
    const seconds = await untilTrue(`${store} ${how}: right responses again`, areRight)
    const after = await traffic.during('up', PHASE_MS)
    verdicts.push(
      before.verdict(`${store} ${how}: before`, 'statements 200'),
      down.verdict('… during', 'statements 503', store === 'Redis' ? 'login 200' : 'login 503'),
      after.verdict(`… after, right at all processes after ${seconds.toFixed(1)} s`, 'statements 200'),
    )
  }
  return [...verdicts, (await traffic.stop()).verdict('stores, whole run')]
}

/** Stops the issuer for longer than the reporting API keeps cached keys. */
async function issuerOutage(node) {
  const { apis, env, ports, people } = await startSeveral({ node, size: 1, people: 8, reporting: SETTINGS })
  const { send } = createClient(ports.reporting, { connections: 16, localAddress: '127.0.8.2' })
  const person = inTurn(people.slice(0, -1))
  const good = () => report(person())
  const kinds = inTurn([...Array(8).fill(good), ...refusals(people, { path: REPORT_PATH })])
  const allowed = allowedBy(() => DOWN.issuer)
  const traffic = startTraffic({ clients: 8, next: () => ({ ...kinds()(), send }), allowed, pauseMs: 10 })
  const status = async () => (await send(good().request)).status

  const before = await traffic.during('up', PHASE_MS)
  await apis[0].stop('SIGKILL')
  const kept = await traffic.during('up', PHASE_MS)
  const refusing = await untilTrue('the keys are too old', async () => (await status()) === 503)
  const down = await traffic.during('down', PHASE_MS)
  await startApi(node, env, apis[0].port)
  const seconds = await untilTrue('reports again', async () => (await status()) === 200)
  await sleep(500)
  const after = await traffic.during('up', PHASE_MS)
  return [
    before.verdict('issuer killed: before', 'report 200'),
    kept.verdict(`… while keys are cached (${SETTINGS.keepFor} here)`, 'report 200'),
    down.verdict(`… later, after ${(PHASE_MS / 1000 + refusing).toFixed(1)} s`, 'report 503'),
    after.verdict(`… after, right again after ${seconds.toFixed(1)} s`, 'report 200'),
    (await traffic.stop()).verdict('issuer, whole run'),
  ]
}
