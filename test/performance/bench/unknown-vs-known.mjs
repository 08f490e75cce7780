// Measures whether the time of a refusal shows that an account exists: 200 interleaved pairs, argon2id with its default cost.
// npm run bench:unknown

import { createClient, login } from '../../support/plain-js/http-client.mjs'
import { fixed, say, sayWhere, start } from '../processes.mjs'
import { median, quantile } from '../stats.mjs'

const PAIRS = 200
const server = await start(new URL('servers/login-server.mjs', import.meta.url))
const { send } = createClient(server.first, { connections: 1 })
const times = { known: [], unknown: [] }

async function time(kind, i, address) {
  const { status, ms } = await send(login(`${kind}${i}@example.com`, 'a wrong guess', address))
  if (status !== 403) throw new Error(`answered ${status}`)
  return ms
}

sayWhere()
for (let i = 0; i < 20; i++) await time(i % 2 ? 'known' : 'unknown', 900 + i, '192.0.2.1') // warm
for (let i = 0; i < PAIRS; i++) {
  // The order within a pair changes, so that neither is always the first.
  for (const kind of i % 2 ? ['known', 'unknown'] : ['unknown', 'known']) {
    times[kind].push(await time(kind, i, `10.0.${kind === 'known' ? 0 : 1}.${i}`))
  }
}
for (const [kind, list] of Object.entries(times)) {
  say(
    `${kind.padEnd(8)} median ${fixed(median(list))} ms, p10 ${fixed(quantile(list, 0.1))}, p90 ${fixed(quantile(list, 0.9))}`,
  )
}
say(`ratio of the medians, unknown to known: ${(median(times.unknown) / median(times.known)).toFixed(4)}`)
server.child.disconnect()
