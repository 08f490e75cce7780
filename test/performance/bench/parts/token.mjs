import { createClient } from '../../../support/plain-js/http-client.mjs'
import { start } from '../../processes.mjs'
import { inRounds } from '../measure/rounds.mjs'
import { atLeast, rowsOf, times, withSpread } from '../report/report.mjs'
import { startLoad } from '../servers/load.mjs'

const WARM_UP = 600
const SLICE = 300
const CONNECTIONS = 16

/** Measures the token endpoint without the password hash, which would hide everything else. */
export const token = {
  title: 'The token call without the hash, answers per second',
  async run({ rounds }) {
    const server = await start(new URL('../servers/token-server.mjs', import.meta.url))
    const { port, bare, paths, emails } = server.first
    const variants = [bare, ...paths.filter((path) => path !== bare)].map((path) => ({
      name: path === bare ? 'a bare route with express.json()' : `the token call, ${path.split('/').at(-1)}`,
      before: `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`,
      list: 'logins',
      after: '',
      path,
      port,
    }))
    await check(port, variants.slice(1), emails[0])
    const load = await startLoad([port], CONNECTIONS)
    // Simultaneous logins have different accounts and addresses, so they reach no failed-login limit.
    await load.remember('logins', emails.map(loginAfterHead))
    for (const variant of variants) await load.run(variant, WARM_UP)
    const values = await inRounds(rounds, variants, async (variant) => (await load.run(variant, SLICE)).perSecond)
    load.stop()
    server.child.disconnect()

    const rows = rowsOf(values)
    return {
      tables: [
        {
          heads: ['POST', 'per second', 'to bare'],
          rows: rows.map((row) => [row.name, withSpread(row), times(row.ratio)]),
        },
      ],
      demands: [atLeast('the token call without the hash, HS256, to a bare route', rows[1].ratio, 0.6)],
      rows,
    }
  },
}

const bodyOf = (email) => JSON.stringify({ email, password: 'correct horse' })

const loginAfterHead = (email, i) =>
  `Content-Length: ${bodyOf(email).length}\r\nX-Forwarded-For: 198.51.100.${10 + i}\r\n\r\n${bodyOf(email)}`

async function check(port, variants, email) {
  const { send } = createClient(port, { connections: 1 })
  const headers = { 'Content-Type': 'application/json' }
  for (const { name, path } of variants) {
    const good = await send({ method: 'POST', path, headers, body: bodyOf(email) })
    if (good.status !== 200 || !JSON.parse(good.body).authenticationToken)
      throw new Error(`${name}: refuses a good login`)
    const bad = await send({ method: 'POST', path, headers, body: bodyOf('nobody@example.com') })
    if (bad.status !== 403) throw new Error(`${name}: accepts an unknown account`)
  }
}
