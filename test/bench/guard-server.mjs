// The server of the http part: the same route without a guard, with ours, and with each peer's, for each algorithm.
import { appOf, serve } from './app-server.mjs'
import { createEnvironment } from './environment.mjs'
import { floor, ours, peers } from './guards.mjs'

const BARE = 'no guard'

const environments = new Map()
const apps = new Map()
const variants = []

for (const alg of ['HS256', 'RS256', 'ES256']) {
  const environment = createEnvironment(alg)
  // The floor knows its token beforehand.
  const one = environment.tokens(1)
  environments.set(alg, { ...environment, one })
  const guards = [{ name: BARE }, floor(one), ours(environment), ...peers(environment)]
  for (const { name, guard, warned } of guards) {
    // Paths of one length.
    const path = `/statements/${String(apps.size).padStart(2, '0')}`
    const answer = (_req, res) => res.json({ account: 'acc-1', statements: [] })
    apps.set(
      path,
      appOf((app) => app.get(path, ...(guard ? [guard] : []), answer)),
    )
    variants.push({ alg, name, path, warned })
  }
}

const port = await serve(apps)
process.on('message', ({ alg, count }) => {
  if (alg === undefined) return process.send(process.cpuUsage())
  const environment = environments.get(alg)
  process.send({
    tokens: count === 1 ? environment.one : environment.tokens(count),
    forged: environment.forged(),
    expired: environment.expired(),
  })
})
process.on('disconnect', () => process.exit())
process.send({ port, variants })
