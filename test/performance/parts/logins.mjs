import { createClient, login } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { start, startServer } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { rowsOf } from '../harness/statistics.mjs'

const OURS = 'this package'
/** Logins at a time. With fewer than the hashing threads, a hash also costs the time until its thread is awake. */
const WITH_HASH = { connections: 8, slice: 300, slices: 6, warmUp: 600 }

export const title = 'Logins: password checks compared with other packages, and the work of a login that is not hashing'

/** Starts a server of token endpoints, and checks them. Simultaneous logins have different accounts and addresses. */
async function startTokens(node) {
  const server = await startServer('token-server.mjs', { node })
  const { port, emails, password } = server
  const { send, close } = createClient(port, { connections: 1 })
  for (const path of ['/free', '/hash']) {
    const { status, body } = await send(login(emails[0], password, '192.0.2.1', path))
    if (status !== 200 || !JSON.parse(body).authenticationToken) throw new Error(`${path}: refuses a good login`)
    const bad = await send(login('nobody@example.com', password, '192.0.2.1', path))
    if (bad.status !== 403) throw new Error(`${path}: accepts an unknown account`)
  }
  close()
  const requests = (path) => emails.map((email, i) => login(email, password, `198.51.100.${10 + i}`, path))
  return { side: (name, path) => server.side(name, requests(path)), stop: server.stop }
}

const twoSides = (node, bare, endpoint) => async () => {
  const { side, stop } = await startTokens(node)
  return { sides: [side('a bare route with express.json()', bare), side('the token endpoint', endpoint)], close: stop }
}

export async function run({ node, rounds }) {
  const { first } = await start('password-checks.mjs', { args: [rounds], node })
  const free = await alternately(twoSides(node, '/bare', '/free'), { rounds, connections: 16 })
  const whole = await alternately(twoSides(node, '/bare/hash', '/hash'), { rounds, ...WITH_HASH })
  const checks = Object.entries(first).map(([kind, found]) => ({ kind, rows: rowsOf(found, { base: OURS }) }))
  const work = [
    ['without a hash', free],
    ['with an argon2id hash', whole],
  ]
  return {
    tables: [
      ...checks.map(({ kind, rows }) => [
        [`a check of ${kind}`, 'processor ms', `times that of ${OURS}`],
        rows.map(({ name, ratio, ...ms }) => [name, spread(thousandth(ms)), spread(ratio)]),
      ]),
      [
        ['POST', 'µs', 'responses in the same time'],
        work.flatMap(([what, rows]) =>
          rows.map(({ name, cpu, ratio }) => [`${name}, ${what}`, spread(cpu.api), spread(ratio)]),
        ),
      ],
    ],
    verdicts: checks.flatMap(({ kind, rows }) =>
      rows.slice(1).map(({ name }) => {
        const [{ ratio }] = rowsOf(first[kind], { base: name, names: [OURS] })
        return atMost(`a check of ${kind}, ${OURS} to ${name}`, ratio, 1)
      }),
    ),
  }
}

const thousandth = (values) => Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value / 1000]))
