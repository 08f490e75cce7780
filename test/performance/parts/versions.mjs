import { OURS } from '../guards.mjs'
import { alternately } from '../harness/alternately.mjs'
import { atLeast, spread } from '../harness/report.mjs'
import { NEW_TOKENS, startGuard } from './guard.mjs'
import { startTokens } from './logins.mjs'

const BASE = 'the other build'
const THIS = 'this build'
const LEAST = 0.97

export const title = 'This build of the package, compared with the build in the folder of --base'

/** Starts a server for each build. */
const both = (startOne, path) => async (base) => {
  const servers = [await startOne(base), await startOne(undefined)]
  const sides = servers.map(({ side }, i) => side([BASE, THIS][i], path))
  return { sides, close: () => servers.map(({ stop }) => stop()) }
}

export async function run({ node, rounds, base }) {
  if (!base) throw new Error('pass --base with a folder that has package.json and a built dist')
  const guard = (options) => (folder) =>
    startGuard(node, { way: 'alone', alg: 'HS256', name: OURS, folder, ...options })
  const tokens = (folder) => startTokens(node, folder)
  const cases = [
    ['a guarded request, cached token', both(guard(), '/mine')],
    ['a guarded request, new token', both(guard({ count: NEW_TOKENS.count }), '/mine'), NEW_TOKENS],
    ['a login without the hash', both(tokens, '/free'), { connections: 16 }],
  ]
  const rows = []
  for (const [name, open, options] of cases) {
    const [, { ratio, more }] = await alternately(() => open(base), { rounds, ...options })
    rows.push({ name, ratio, more })
  }
  return {
    tables: [
      [
        ['', 'responses in the same time', 'µs more'],
        rows.map(({ name, ratio, more }) => [name, spread(ratio), spread(more.api)]),
      ],
    ],
    verdicts: rows.map(({ name, ratio }) => atLeast(name, ratio, LEAST)),
  }
}
