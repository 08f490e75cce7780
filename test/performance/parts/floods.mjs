import { bearer, login, send } from '../../support/plain-js/http-client.mjs'
import { withOtherSignature } from '../../support/plain-js/token-forger.mjs'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { nginxWith } from '../../support/services/servers/nginx-server.mjs'
import { startLoadClient } from '../harness/load-client.mjs'
import { atEnd, peakOf, start } from '../harness/processes.mjs'
import { atMost } from '../harness/report.mjs'
import { inRounds, median, medianWithInterval, quantile } from '../harness/statistics.mjs'

const ONE = '203.0.113.9'
const addressOf = (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
const list = (length, create) => Array.from({ length }, (_, i) => create(i))
const known = (i) => `known${i}@example.com`
const guess = (i, address) => login(known(i % 900), `guess ${i}`, address)
const forged = (body) => (token) =>
  list(960, (i) => ({ ...bearer(withOtherSignature(token, i), '/guarded'), ...(body && { body }) }))

const GUESSES = '256 addresses guess'
const PIPELINED = 'one address guesses, 16 × 400'
const FORGED = 'forged tokens, 64 × 60'

/** The attacks: the number of connections, the number of requests in one write, and the requests. */
const ATTACKS = [
  [GUESSES, 256, 1, () => list(10_000, (i) => guess(i, addressOf(i)))],
  ['one address guesses, 256 × 1', 256, 1, () => list(900, (i) => guess(i, ONE))],
  [PIPELINED, 16, 400, () => list(900, (i) => guess(i, ONE))],
  [FORGED, 64, 60, forged()],
  ['forged tokens with a body of 10 kB, 64 × 60', 64, 60, forged('x'.repeat(10_000))],
  ['right passwords, 16 × 50', 16, 50, (_token, password) => list(100, (i) => login(known(i), password, ONE))],
  [
    'e-mail addresses of 10 kB, 64 × 1',
    64,
    1,
    () => list(100, (i) => login('e'.repeat(10_000) + known(i), 'guess', addressOf(i))),
  ],
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
  const times = Math.ceil(rounds / 2)
  const attacks = []
  const variants = ['package', 'plain'].map((kind) => ({ name: kind, kind }))
  for (const attack of ATTACKS) {
    const found = await inRounds(times, variants, ({ kind }) => underAttack(attack, { kind }, node))
    attacks.push({ name: attack.name, ours: summaryOf(found, 'package'), plain: summaryOf(found, 'plain') })
  }
  const chosen = ATTACKS.filter(({ name }) => [GUESSES, PIPELINED, FORGED].includes(name))
  const settings = Object.keys(SETTINGS).map((name) => ({ name, cells: [] }))
  for (const attack of chosen) {
    const found = await inRounds(times, settings, ({ name }) =>
      underAttack(attack, { kind: 'package', ...SETTINGS[name] }, node),
    )
    for (const { name, cells } of settings) cells.push(summaryOf(found, name))
  }
  return {
    tables: [
      [
        [
          'attack',
          ...['guarded route: p50, p99 in ms', '20 sign-ins', 'peak memory'].flatMap((what) => [
            `${what}: this package`,
            'plain app',
          ]),
        ],
        attacks.map(({ name, ours, plain }) => [
          name,
          ...['guarded', 'owners', 'memory'].flatMap((cell) => [ours[cell], plain[cell]]),
        ]),
      ],
      [
        ['guarded route: p50, p99 in ms; 20 sign-ins', ...chosen.map(({ name }) => name)],
        settings.map(({ name, cells }) => [name, ...cells.map(({ guarded, owners }) => `${guarded}; ${owners}`)]),
      ],
    ],
    verdicts: attacks.map(({ name, ours }) =>
      atMost(`${name}: p99 of a guarded route, to the p99 before`, ours.slower, TARGET),
    ),
  }
}

const digits = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0))

function summaryOf(rounds, name) {
  const over = (figure) => median(rounds.map((round) => figure(round[name])))
  const refused = over(({ refused }) => refused)
  return {
    guarded: [({ p50 }) => p50, ({ p99 }) => p99].map((figure) => digits(over(figure))).join(', '),
    owners: `${over(({ slowest }) => slowest / 1000).toFixed(2)} s${refused > 0 ? `, ${refused} refused` : ''}`,
    memory: `${over(({ memory }) => memory).toFixed(0)} MB`,
    slower: medianWithInterval(rounds.map((round) => round[name].p99 / round[name].quiet)),
  }
}

/** Attacks an app, and measures the people who use the app. */
async function underAttack({ connections, depth, requests }, setting, node) {
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
  const startOne = () => start('flooded-server.mjs', { args: [JSON.stringify(options)], node })
  const servers = [await startOne(), ...(loginProcess ? [await startOne()] : [])]
  const [{ pid, first }] = servers
  const proxy = limits === undefined ? undefined : await startNginx(first.port, limits)
  const port = proxy?.ports.main ?? first.port
  return {
    pid,
    port,
    loginPort: loginProcess ? servers[1].first.port : port,
    password: first.password,
    async stop() {
      await proxy?.remove()
      for (const server of servers) server.stop()
    },
  }
}

async function startNginx(port, limits) {
  const main = await freePort()
  const site = `
    limit_conn_zone $binary_remote_addr zone=connections:1m;
    limit_conn_status 429;
    limit_req_zone $binary_remote_addr zone=requests:1m rate=400r/s;
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
