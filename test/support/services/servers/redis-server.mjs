import { spawn, spawnSync } from 'node:child_process'
import { end } from './children.mjs'
import { freePort } from './free-port.mjs'

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0
export const HOW_TO_GET_REDIS = "apt-get install redis-server, or your system's own package"

/**
 * Creates a temporary Redis on a free port, and does not start it. With `dir`, it stores its data in that folder. With `config` too, a file in
 * the folder, only this file says how.
 * @param {{ dir?: string, fsync?: string, config?: string }} options
 */
export async function redisServer({ dir, fsync = 'always', config } = {}) {
  const port = await freePort()
  let child
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: () => child,
    async start() {
      const keep = dir ? ['--dir', dir, '--appendonly', 'yes', '--appendfsync', fsync] : ['--appendonly', 'no']
      const flags = config ? [config, '--dir', dir] : ['--save', '', ...keep]
      child = spawn('redis-server', [...flags, '--port', `${port}`, '--bind', '127.0.0.1'])
      for await (const line of child.stdout) {
        if (line.includes('Ready to accept connections')) break
      }
    },
    kill: () => end(child, 'SIGKILL'),
  }
}
