import { bearer, login, send } from '../../support/plain-js/http-client.mjs'
import { withOtherSignature } from '../../support/plain-js/token-forger.mjs'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { nginxWith } from '../../support/services/servers/nginx-server.mjs'
import { startLoadClient } from '../harness/load-client.mjs'
import { atEnd, peakOf, startServer } from '../harness/processes.mjs'
import { atMost } from '../harness/report.mjs'
import { inRounds, median, medianWithInterval, quantile } from '../harness/statistics.mjs'

const ONE = '203.0.113.9'
const addressOf = (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
const list = (length, create) => Array.from({ length }, (_, i) => create(i))
const LONG = 'e'.repeat(10_000)
const known = (i) => `known${i}@example.com`
const guess = (i, address) => login(known(i % 900), `guess ${i}`, address)
const forged = (body) => (token) =>
  list(960, (i) => ({ ...bearer(withOtherSignature(token, i), '/guarded'), ...(body && { body }) }))

/** The attacks: the number of connections, the number of requests in one write, and the requests. The first three also meet each setting. */
const ATTACKS = [
  ['256 addresses guess', 256, 1, () => list(10_000, (i) => guess(i, addressOf(i)))],
  ['one address guesses, 16 × 400', 16, 400, () => list(900, (i) => guess(i, ONE))],
  ['forged tokens, 64 × 60', 64, 60, forged()],
  ['one address guesses, 256 × 1', 256, 1, () => list(900, (i) => guess(i, ONE))],
  ['forged tokens with a body of 10 kB, 64 × 60', 64, 60, forged('x'.repeat(10_000))],
  ['right passwords, 16 × 50', 16, 50, (_token, password) => list(100, (i) => login(known(i), password, ONE))],
  ['email addresses of 10 kB, 64 × 1', 64, 1, () => list(100, (i) => login(LONG + known(i), 'guess', addressOf(i)))],
  ["Express's own 404, 16 × 400", 16, 400, () => [{ ...guess(0, ONE), path: '/nothing' }]],
].map(([name, connections, depth, requests]) => ({ name, connections, depth, requests }))

/** The ways to run the app, which are measured during one attack of each kind. */
const SETTINGS = {
  defaults: {},
  'concurrency: 1': { concurrency: 1 },
  'logins in their own process': { loginProcess: true },
  'behind nginx': { limits: '' },
  'behind nginx with limits': { limits: 'limit_conn connections 32; limit_req zone=requests burst=100 nodelay;' },
}

/** Milliseconds of a measurement. In a much shorter one, a single pause of the machine decides the p99. */
const PHASE = 1500
/** Milliseconds until an attack is measured. The first attempts of an attacker are not refused by a limit. */
const SETTLE = 1000
/** Milliseconds between two requests of the only client of the guarded route. */
const PAUSE = 5
const OWNERS = 20
/** The attacker's own address. nginx sees it. */
const ATTACKER = '127.0.0.9'
const TARGET = 3

export const title =
  'Floods: a guarded route and 20 people who sign in, in this package and in a plain app, and what a host can set'

export async function run({ node, rounds }) {
  /** Attacks the app in each setting. Returns what users notice in each, by its name. */
  async function compare(attack, settings) {
    const variants = Object.entries(settings).map(([name, setting]) => ({ name, setting }))
    const found = await inRounds(Math.ceil(rounds / 2), variants, ({ setting }) => underAttack(attack, setting, node))
    return Object.fromEntries(variants.map(({ name }) => [name, summaryOf(found.map((round) => round[name]))]))
  }

  const attacks = []
  for (const attack of ATTACKS) {
    attacks.push({ attack, ...(await compare(attack, { ours: {}, plain: { kind: 'plain' } })) })
  }
  const inSettings = []
  for (const attack of ATTACKS.slice(0, 3)) inSettings.push(await compare(attack, SETTINGS))

  const columns = ['guarded route: p50, p99 in ms', '20 sign-ins', 'peak memory']
  return {
    tables: [
      [
        ['attack', ...columns.flatMap((what) => [`${what}: this package`, 'plain app'])],
        attacks.map(({ attack, ours, plain }) => [
          attack.name,
          ...['guarded', 'owners', 'memory'].flatMap((cell) => [ours[cell], plain[cell]]),
        ]),
      ],
      [
        ['guarded route: p50, p99 in ms; 20 sign-ins', ...ATTACKS.slice(0, 3).map(({ name }) => name)],
        Object.keys(SETTINGS).map((name) => [
          name,
          ...inSettings.map(({ [name]: { guarded, owners } }) => `${guarded}; ${owners}`),
        ]),
      ],
    ],
    verdicts: attacks.map(({ attack, ours }) =>
      atMost(`${attack.name}: p99 of a guarded route, to the p99 before`, ours.slower, TARGET),
    ),
  }
}

const digits = (value) => value.toFixed(value < 10 ? 1 : 0)

/** Returns the cells of a table for the rounds of one attack. */
export function summaryOf(rounds) {
  const over = (figure) => median(rounds.map(figure))
  const refused = over((round) => round.refused)
  return {
    guarded: `${digits(over(({ p50 }) => p50))}, ${digits(over(({ p99 }) => p99))}`,
    owners: `${over(({ slowest }) => slowest / 1000).toFixed(2)} s${refused > 0 ? `, ${refused} refused` : ''}`,
    memory: `${over(({ memory }) => memory).toFixed(0)} MB`,
    slower: medianWithInterval(rounds.map(({ p99, quiet }) => p99 / quiet)),
  }
}

/** Attacks an app, and measures the people who use the app. */
export async function underAttack({ connections, depth, requests }, setting, node) {
  const app = await startApp(setting, node)
  const [victim, attacker] = [await startLoadClient(), await startLoadClient()]
  try {
    const owners = list(OWNERS, (i) => login(known(900 + i), app.password, `198.51.100.${100 + i}`))
    const { authenticationToken: token } = JSON.parse((await send(app.port, owners[0])).body)
    const guarded = await victim.open(app.port, [bearer(token, '/guarded')], { connections: 1, pause: PAUSE })
    const signIns = await victim.open(app.loginPort, owners, { connections: OWNERS })
    await signIns.run(1)
    await guarded.run(PHASE)
    const quiet = timesOf(await guarded.run(PHASE))

    const attacked = requests(token, app.password)
    const port = attacked[0].headers.Authorization ? app.port : app.loginPort
    const load = await attacker.open(port, attacked, { connections, depth, localAddress: ATTACKER })
    await load.begin()
    await new Promise((resolve) => setTimeout(resolve, SETTLE))
    const found = timesOf(await guarded.run(PHASE))
    const { statuses, times } = await signIns.run(1)
    await load.stop()
    const refused = OWNERS - (statuses[200] ?? 0)
    return { ...found, quiet: quiet.p99, slowest: Math.max(...times), refused, memory: await peakOf(app.pid) }
  } finally {
    victim.stop()
    attacker.stop()
    await app.stop()
  }
}

function timesOf({ statuses, total, closed, times }) {
  if (statuses[200] !== total || closed > 0) {
    throw new Error(`the guarded route closed ${closed} connections, and responded ${JSON.stringify(statuses)}`)
  }
  return { p50: median(times), p99: quantile(times, 0.99) }
}

/** Starts the app. Logins go to `loginPort`, and all other requests to `port`. */
async function startApp({ loginProcess, limits, ...options }, node) {
  // On all cores, because the hashing threads are part of what users notice.
  const start = { args: [JSON.stringify(options)], node, core: undefined }
  const startOne = () => startServer('flooded-server.mjs', start)
  const { pid, port: own, password, stop } = await startOne()
  const logins = loginProcess && (await startOne())
  const proxy = limits === undefined ? undefined : await startNginx(own, limits)
  const port = proxy?.ports.main ?? own
  return {
    ...{ pid, port, password, loginPort: logins?.port ?? port },
    async stop() {
      await proxy?.remove()
      for (const end of [stop, logins?.stop]) end?.()
    },
  }
}

async function startNginx(port, limits) {
  const main = await freePort()
  const site = `
    limit_conn_zone $binary_remote_addr zone=connections:1m;
    limit_req_zone $binary_remote_addr zone=requests:1m rate=400r/s;
    limit_conn_status 429;
    limit_req_status 429;
    upstream api { server 127.0.0.1:${port}; keepalive 64; keepalive_requests 1000000; }
    server {
      listen 127.0.0.1:${main} backlog=4096;
      access_log off;
      keepalive_requests 1000000;
      ${limits}
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      location / { proxy_pass http://api; }
    }`
  const nginx = await nginxWith(site, { main })
  atEnd(() => nginx.remove())
  await nginx.start()
  return nginx
}
