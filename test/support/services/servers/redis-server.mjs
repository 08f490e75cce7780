import { spawn, spawnSync } from 'node:child_process'
import { end } from './children.mjs'
import { freePort } from './free-port.mjs'

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0
export const HOW_TO_GET_REDIS = "apt-get install redis-server, or your system's own package"

/**
 * Creates a temporary Redis on a free port, and does not start it. With `dir`, it stores its data in that folder. With `config` too, a file in
 * the folder, only this file says how.
 * @param {{ dir?: string, fsync?: string, config?: string, cluster?: boolean }} options
 */
export async function redisServer({ dir, fsync = 'always', config, cluster = false } = {}) {
  const port = await freePort()
  const busPort = cluster ? await freePort() : 0
  let child
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: () => child,
    async start() {
      const keep = dir ? ['--dir', dir, '--appendonly', 'yes', '--appendfsync', fsync] : ['--appendonly', 'no']
      const flags = config ? [config, '--dir', dir] : ['--save', '', ...keep]
      // The bus of a cluster has its own port, by default 10,000 above the first.
      const bus = cluster ? ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`] : []
      child = spawn('redis-server', [...flags, ...bus, '--port', `${port}`, '--bind', '127.0.0.1'])
      for await (const line of child.stdout) {
        if (line.includes('Ready to accept connections')) break
      }
    },
    kill: () => end(child, 'SIGKILL'),
  }
}
