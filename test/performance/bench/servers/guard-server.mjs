// A server of the http part: one route with one guard, and the same route without a guard. Each server loads all guards, so that no
// server has less memory than another.

import { createEnvironment } from '../environment.mjs'
import { allGuards, named } from '../guards.mjs'
import { appOf, serve } from './app-server.mjs'

const GUARDED = '/mine/statements'
const OPEN = '/open/statements'

const [alg, name, count] = process.argv.slice(2)
const environment = createEnvironment(alg)
const tokens = environment.tokens(Number(count))
const { guard } = named(name, allGuards(environment, tokens))
const answer = (_req, res) => res.json({ account: 'acc-1', statements: [] })
const port = await serve(
  new Map([
    [GUARDED, appOf((app) => app.get(GUARDED, guard, answer))],
    [OPEN, appOf((app) => app.get(OPEN, answer))],
  ]),
)

process.on('message', () => process.send(process.cpuUsage()))
process.on('disconnect', () => process.exit())
process.send({ port, guarded: GUARDED, open: OPEN, tokens, samples: environment.samples(tokens[0]) })
