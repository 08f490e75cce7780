import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { startRedis } from './redis.js'

const run = promisify(execFile)

/** Starts a cluster of three temporary nodes, and stops it when the test ends. Returns their ports. */
export async function startCluster(): Promise<number[]> {
  const nodes = await Promise.all(
    [1, 2, 3].map(async () => {
      const dir = await mkdtemp(join(tmpdir(), 'redis-node-'))
      onTestFinished(() => rm(dir, { recursive: true }))
      return startRedis({ dir, cluster: true })
    }),
  )
  const ports = nodes.map(({ port }) => port)
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes'])
  // Each node learns of the slots of the others by messages.
  const isReady = async (port: number) =>
    (await run('redis-cli', ['-p', `${port}`, 'cluster', 'info'])).stdout.includes('cluster_state:ok')
  for (const port of ports) while (!(await isReady(port))) await new Promise((resolve) => setTimeout(resolve, 20))
  return ports
}
