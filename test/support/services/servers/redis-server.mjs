import { spawn, spawnSync } from 'node:child_process'
import { end } from './children.mjs'
import { freePort } from './free-port.mjs'

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0
export const HOW_TO_GET_REDIS = "apt-get install redis-server, or your system's own package"

/**
 * Creates a temporary Redis on a free port, and does not start it. With `dir`, it stores its data in that folder.
 * @param {{ dir?: string, fsync?: string }} options
 */
export async function redisServer({ dir, fsync = 'always' } = {}) {
  const port = await freePort()
  let child
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: () => child,
    async start() {
      const keep = dir ? ['--dir', dir, '--appendonly', 'yes', '--appendfsync', fsync] : ['--appendonly', 'no']
      child = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', ...keep])
      for await (const line of child.stdout) {
        if (line.includes('Ready to accept connections')) break
      }
    },
    kill: () => end(child, 'SIGKILL'),
  }
}
