// A login flood, and what it does to the process and to its guarded routes. Server, attacker and measuring client are three
// processes. npm run bench:flood [-- --seconds 5]
import { median, quantile } from './stats.mjs'
import { client, fixed, login, say, sayWhere, seconds, start } from './support.mjs'

const at = process.argv.indexOf('--seconds')
const SECONDS = at > 0 ? Number(process.argv[at + 1]) : 5

const server = await start('login-server.mjs', { execArgv: ['--expose-gc'] })
const port = server.first
const send = client(port, 4)
const signIn = () => send(login('known1@example.com', 'correct horse', '198.51.100.7'))
const { authenticationToken } = JSON.parse((await signIn()).body)
const guarded = { path: '/guarded', headers: { Authorization: `Bearer ${authenticationToken}` } }

/** What a guarded route takes, asked every five milliseconds. */
async function guard(length = SECONDS) {
  const times = []
  const end = performance.now() + length * 1000
  while (performance.now() < end) {
    const { status, ms } = await send(guarded)
    if (status !== 200) throw new Error(`the guarded route answered ${status}`)
    times.push(ms)
    await seconds(0.005)
  }
  return { p50: median(times), p99: quantile(times, 0.99), times }
}

sayWhere()
await guard(2) // warm
await server.ask('reset')

for (const [addresses, pause] of [
  ['many', 1000],
  ['many', 100],
  ['many', 0],
  ['one', 1000],
  ['one', 100],
  ['one', 0],
]) {
  const before = await guard()
  const idle = await server.ask('stats')
  const flooder = await start('flooder.mjs', { args: [`${port}`, addresses, `${pause}`] })
  await seconds(0.5)
  await server.ask('reset')
  const during = await guard()
  const flooded = await server.ask('stats')
  const owner = await signIn()
  const counts = await flooder.ask('stop')
  flooder.child.disconnect()
  const stopped = performance.now()
  const back = await signIn()
  const recovered = performance.now() - stopped
  await server.ask('reset')
  const after = await guard(2)
  const calm = await server.ask('stats')

  const answered = Object.values(counts).reduce((a, b) => a + b, 0)
  const wrong = Object.keys(counts).filter((outcome) => !['200', '403', '429', '503'].includes(outcome))
  say(
    `\n${addresses} address${addresses === 'one' ? '' : 'es'}, ${pause ? `${pause} ms after a refusal` : 'again at once'}:`,
  )
  say(
    `  answers      ${JSON.stringify(counts)}, ${Math.round(answered / (SECONDS + 0.5))}/s; others than 200, 403, 429, 503: ${wrong.length}`,
  )
  say(`  memory       ${fixed(flooded.rss - idle.rss)} MB above idle (${fixed(idle.rss)} MB)`)
  say(`  event loop   p99 ${fixed(flooded.p99)} ms, most ${fixed(flooded.max)} ms (idle p99 ${fixed(idle.p99)} ms)`)
  say(
    `  guarded      p50 ${fixed(before.p50)} → ${fixed(during.p50)} ms, p99 ${fixed(before.p99)} → ${fixed(during.p99)} ms: × ${fixed(during.p99 / before.p99)}`,
  )
  say(`  owner        ${owner.status} during; ${back.status} after ${fixed(recovered)} ms`)
  say(
    `  recovered    guarded p99 ${fixed(after.p99)} ms, event loop p99 ${fixed(calm.p99)} ms, ${JSON.stringify(calm.load)}`,
  )
}
server.child.disconnect()
