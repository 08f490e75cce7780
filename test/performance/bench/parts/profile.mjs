import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bearer, requestText } from '../../../support/plain-js/http-client.mjs'
import { startClient } from '../../client/start-client.mjs'
import { CLIENT_CORE } from '../../processes.mjs'
import { startServer } from '../measure/pairs.mjs'
import { OURS } from '../names.mjs'

const WARM_UP = 3000
const PROFILED = 6000
const SAMPLE_US = '200'

/** The owners of a function, by the address of its file. The first pattern that matches counts. */
const OWNERS = [
  ['Express and other packages', /node_modules/],
  ['this package', /\/dist\//],
  ["Node's JavaScript", /^node:/],
]
const OTHERS = 'system calls, HTTP parser and other native code'
const COLLECTOR = 'garbage collection'

/** Shows where the processor time of a guarded request goes: a CPU profile of a server that is busy. */
export const profile = {
  title: 'Where the time of a guarded request goes (HS256, one token)',
  async run({ node }) {
    const folder = await mkdtemp(join(tmpdir(), 'profile-'))
    try {
      const server = await startServer('../servers/guard-server.mjs', {
        args: ['HS256', OURS, '1'],
        execArgv: ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${SAMPLE_US}`],
        node,
        silent: true,
      })
      const { port, guarded, tokens } = server.first
      const client = await startClient({ core: CLIENT_CORE })
      const load = await (await client.connect(port, 32)).load([requestText(bearer(tokens[0], guarded))])
      await load.run(WARM_UP)
      const { perSecond } = await load.run(PROFILED)
      client.stop()
      const ended = once(server.child, 'exit')
      server.child.disconnect()
      await ended
      const [file] = await readdir(folder)
      const shares = sharesOf(JSON.parse(await readFile(join(folder, file), 'utf8')), PROFILED)
      const rows = [...shares].map(([name, share]) => ({ name, share }))
      return {
        tables: [
          {
            heads: [`${Math.round(perSecond)} requests per second while profiled`, 'share of the time'],
            rows: rows.map(({ name, share }) => [name, `${(100 * share).toFixed(1)} %`]),
          },
        ],
        demands: rows.map(({ name, share }) => ({
          demand: `(time of a guarded request: ${name})`,
          measured: `${(100 * share).toFixed(1)} %`,
        })),
        rows,
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** Adds up the samples of the last milliseconds of a profile by owner, without the time in which the server was idle. */
function sharesOf({ nodes, samples, timeDeltas, endTime, startTime }, milliseconds) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const from = endTime - startTime - milliseconds * 1000
  const times = new Map([...OWNERS.map(([name]) => name), OTHERS, COLLECTOR].map((name) => [name, 0]))
  let at = 0
  for (const [i, id] of samples.entries()) {
    at += timeDeltas[i]
    const owner = ownerOf(byId.get(id))
    if (at >= from && owner) times.set(owner, times.get(owner) + timeDeltas[i])
  }
  const total = [...times.values()].reduce((a, b) => a + b)
  return [...times].map(([name, time]) => [name, time / total])
}

function ownerOf({ functionName, url }) {
  if (functionName === '(idle)') return undefined
  if (functionName === '(garbage collector)') return COLLECTOR
  return OWNERS.find(([, pattern]) => pattern.test(url))?.[0] ?? OTHERS
}
