import { bearer, JSON_TYPE } from '../../support/plain-js/http-client.mjs'
import { checkRoute, createEnvironment, FLOOR, NONE, OURS } from '../guards.mjs'
import { alternately } from '../harness/alternately.mjs'
import { startServer } from '../harness/processes.mjs'
import { atLeast, spread } from '../harness/report.mjs'
import { isFastest } from '../peers/guards.mjs'

/** More tokens than a round has requests, so that each request has a new one. The warm-up fills the cache. */
const NEW_TOKENS = { count: 80_000, warmUp: 1500 }
const TARGET = 0.93
const EXPRESS_JWT = 'express-jwt, KeyObject'

export const title =
  'A guarded route over HTTP: responses in the same processor time, as a share of the route without a guard'

/** Starts a server of a guard, and checks the guard. */
async function startGuard(node, options) {
  const server = await startServer('guard-server.mjs', { args: [JSON.stringify(options)], node })
  const { port, tokens, samples } = server
  if (options.name !== NONE) await checkRoute(`${options.name}, ${options.alg}`, port, '/mine', samples)
  const side = (name, ...paths) =>
    server.side(
      name,
      tokens.flatMap((token) => paths.map((path) => bearer(token, path))),
    )
  return { side, tokens, stop: server.stop }
}

/** Compares a server with only the guarded route to a server with only the open route. */
const alone = async (node, options) => {
  const open = await startGuard(node, { ...options, way: 'alone', name: NONE })
  const guarded = await startGuard(node, { ...options, way: 'alone' })
  const sides = [open.side(NONE, '/mine'), guarded.side(options.name, '/mine')]
  return { sides, close: () => [open, guarded].map(({ stop }) => stop()) }
}

/** Compares both routes in one process, while the other routes of the app get requests too. */
const withOthers = async (node, options) => {
  const { side, tokens, stop } = await startGuard(node, { ...options, way: 'app' })
  const more = side('other routes', '/house/7', '/house/7/mine', '/more/a', '/more/b')
  const echo = { method: 'POST', path: '/echo', body: '{"house":"north"}' }
  const headers = { ...JSON_TYPE, ...bearer(tokens[0]).headers }
  more.requests = [...more.requests.slice(0, 400), { ...echo, headers }]
  return { sides: [side(NONE, '/from', '/upto'), side(options.name, '/mine'), more], close: stop }
}

const COLUMNS = [
  { head: 'the only route, HS256', open: alone },
  { head: 'with other routes, HS256', open: withOthers },
  { head: 'RS256', alg: 'RS256', open: withOthers },
  { head: 'ES256', alg: 'ES256', open: withOthers },
]

/** Guards with their fastest settings are measured with every algorithm. */
const isMeasured = (name, { alg }) => alg === undefined || (isFastest(name) && name !== FLOOR)

export async function run({ node, rounds }) {
  const measure = async (name, { open, alg = 'HS256', ...options }) =>
    (await alternately(() => open(node, { alg, name, ...options }), { rounds, ...(options.count && NEW_TOKENS) }))[1]
  const rows = []
  for (const name of Object.keys((await createEnvironment('HS256')).guards)) {
    const row = { name }
    for (const column of COLUMNS) if (isMeasured(name, column)) row[column.head] = await measure(name, column)
    rows.push(row)
  }
  const renewed = []
  for (const name of [OURS, EXPRESS_JWT]) {
    renewed.push({ name, ...(await measure(name, { open: withOthers, count: NEW_TOKENS.count })) })
  }
  const ours = rows.find(({ name }) => name === OURS)
  const share = (row) => spread(row.ratio)
  const shown = ({ name, ...row }) => [name, ...COLUMNS.map(({ head }) => (row[head] ? share(row[head]) : '–'))]
  return {
    tables: [
      [['guard', ...COLUMNS.map(({ head }) => head)], rows.map(shown)],
      [
        [`${NEW_TOKENS.count.toLocaleString('en')} tokens in turn, HS256`, 'with other routes'],
        renewed.map((row) => [row.name, share(row)]),
      ],
    ],
    verdicts: COLUMNS.map(({ head }) => atLeast(`${OURS}, ${head}`, ours[head].ratio, TARGET)),
  }
}
